// SPDX-License-Identifier: Apache-2.0

#include "gate/approver.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/canonical_json.h"
#include "core/hash.h"

namespace mcpac::gate {
namespace {

constexpr std::array<std::pair<Answered, std::string_view>, 6> kNames = {
    {{Answered::kOnce, "once"},
     {Answered::kRun, "run"},
     {Answered::kUntil, "until"},
     {Answered::kNo, "no"},
     {Answered::kNever, "never"},
     {Answered::kNobody, "nobody"}}};

}  // namespace

Json to_json(const Binding& binding) {
  Json json{{"program", binding.program},
            {"headers", binding.headers},
            {"lock", binding.lock},
            {"policy", binding.policy},
            {"servers", binding.servers}};
  if (!binding.arguments.empty()) json["arguments"] = binding.arguments;
  return json;
}

Json recorded(const Binding& binding, const audit::Sink& audit) {
  Json json = to_json(binding);
  if (const auto found = json.find("arguments"); found != json.end())
    *found = audit.keyed_digest(binding.arguments);
  return json;
}

// The first member of each digested text says what it is, so that no two kinds share a digest.
std::string Binding::digest() const {
  return sha256_hex(canonical_json(Json{{"mcpac", "binding"}, {"of", to_json(*this)}}));
}

std::string call_digest(std::string_view permission, const Json& arguments) {
  return sha256_hex(canonical_json(
      Json{{"mcpac", "call"}, {"permission", permission}, {"arguments", arguments}}));
}

Question make_question(std::string permission, Json arguments, std::vector<policy::AskRule> rules,
                       Binding binding) {
  Question question{.id = {},
                    .permission = std::move(permission),
                    .arguments = std::move(arguments),
                    .call_digest = {},
                    .rules = std::move(rules),
                    .binding = std::move(binding)};
  question.call_digest = call_digest(question.permission, question.arguments);
  Json asked = Json::array();
  for (const auto& rule : question.rules)
    asked.push_back({{"layer", rule.layer}, {"rule", rule.rule}});
  question.id = sha256_hex(canonical_json(Json{{"mcpac", "question"},
                                               {"call", question.call_digest},
                                               {"rules", std::move(asked)},
                                               {"binding", question.binding.digest()}}));
  return question;
}

std::string_view to_string(Answered answer) {
  return std::ranges::find(kNames, answer, &std::pair<Answered, std::string_view>::first)->second;
}

std::optional<Answered> answered_from(std::string_view text) {
  const auto found =
      std::ranges::find(kNames, text, &std::pair<Answered, std::string_view>::second);
  if (found == kNames.end() || found->first == Answered::kNobody) return std::nullopt;
  return found->first;
}

}  // namespace mcpac::gate
