// SPDX-License-Identifier: Apache-2.0

#include "run/asking/approval_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/canonical_json.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/private_file.h"
#include "core/rfc3339.h"
#include "policy/text/times.h"

namespace mcpac::run {
namespace {

// Far more than a person answers; beyond it the oldest go.
constexpr std::size_t kMaxEntries = 500;
constexpr std::size_t kMaxBytes = std::size_t{4} << 20U;

Json content_of(const StoredAnswer& answer) {
  Json json = {{"binding", gate::to_json(answer.binding)},
               {"layer", answer.rule.layer},
               {"rule", answer.rule.rule},
               {"tool", answer.rule.tool},
               {"answer", gate::to_string(answer.answer)},
               {"who", answer.who},
               {"given", answer.given},
               {"program", answer.program}};
  if (!answer.until.empty()) json["until"] = answer.until;
  return json;
}

std::string id_of(const StoredAnswer& answer) {
  return sha256_hex(
      canonical_json(Json{{"mcpac", "kept answer"}, {"content", content_of(answer)}}));
}

// Nothing where the entry is not one of ours, whole.
std::optional<StoredAnswer> answer_from(const Json& json) {
  const Json* binding = find_member(json, "binding");
  const auto answered = gate::answered_from(string_member(json, "answer"));
  if (binding == nullptr || !answered) return std::nullopt;
  StoredAnswer answer{
      .id = string_member(json, "id"),
      .binding = {string_member(*binding, "program"), string_member(*binding, "headers"),
                  string_member(*binding, "lock"), string_member(*binding, "policy"),
                  string_member(*binding, "servers"), string_member(*binding, "arguments")},
      .rule = {string_member(json, "layer"), string_member(json, "rule"),
               string_member(json, "tool")},
      .answer = *answered,
      .until = string_member(json, "until"),
      .who = string_member(json, "who"),
      .given = string_member(json, "given"),
      .program = string_member(json, "program")};
  const bool is_kept = answer.answer == gate::Answered::kNever
                           ? answer.until.empty()
                           : answer.answer == gate::Answered::kUntil &&
                                 policy::parse_rfc3339(answer.until).has_value();
  if (!is_kept || answer.id != id_of(answer)) return std::nullopt;
  return answer;
}

ApprovedProgram program_from(const Json& json) {
  ApprovedProgram program{.project = string_member(json, "project"),
                          .program = string_member(json, "program"),
                          .when = string_member(json, "when"),
                          .declared = {},
                          .digest = string_member(json, "digest")};
  if (const Json* list = find_member(json, "declared"); list != nullptr && list->is_array()) {
    for (const Json& text : *list) {
      if (text.is_string()) program.declared.push_back(text.get<std::string>());
    }
  }
  return program;
}

std::string text_of(const Approvals& approvals) {
  Json answers = Json::array();
  for (const auto& answer : approvals.answers) answers.push_back(to_json(answer));
  Json programs = Json::array();
  for (const auto& program : approvals.programs)
    programs.push_back({{"project", program.project},
                        {"program", program.program},
                        {"when", program.when},
                        {"declared", program.declared},
                        {"digest", program.digest}});
  return Json{{"format", 1}, {"answers", std::move(answers)}, {"programs", std::move(programs)}}
             .dump(1) +
         "\n";
}

template <class Entry>
void keep_newest(std::vector<Entry>& entries) {
  if (entries.size() > kMaxEntries)
    entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(kMaxEntries));
}

}  // namespace

Json to_json(const StoredAnswer& answer) {
  Json json = content_of(answer);
  json["id"] = answer.id;
  return json;
}

ApprovalStore::ApprovalStore(std::filesystem::path file, Warn warn, const Clock& clock)
    : file_(std::move(file)), warn_(std::move(warn)), clock_(clock) {}

Approvals ApprovalStore::read() const {
  Approvals approvals;
  if (file_.empty()) return approvals;
  const auto text = read_private_file(file_, kMaxBytes);
  if (!text) {
    warn_(fmt::format("kept approvals are ignored: {}: {}", file_.string(), text.error().what));
    return approvals;
  }
  if (!*text) return approvals;
  const auto json = parse_json(**text, file_.string());
  const Json* answers = json ? find_member(*json, "answers") : nullptr;
  const Json* programs = json ? find_member(*json, "programs") : nullptr;
  if (answers == nullptr || !answers->is_array() || programs == nullptr || !programs->is_array()) {
    warn_(fmt::format("kept approvals are ignored: {} was changed or cut off", file_.string()));
    return approvals;
  }
  std::size_t damaged = 0;
  std::size_t older = 0;
  for (const Json& entry : *answers) {
    auto answer = answer_from(entry);
    if (!answer) {
      // An answer of an older mcpac says nothing of the tool: it was about whatever the rule
      // covers.
      ++(entry.is_object() && !entry.contains("tool") ? older : damaged);
      continue;
    }
    const bool is_over = answer->answer == gate::Answered::kUntil &&
                         *policy::parse_rfc3339(answer->until) <= clock_.wall_now();
    if (!is_over) approvals.answers.push_back(std::move(*answer));
  }
  if (damaged > 0)
    warn_(fmt::format("{} kept approvals are ignored: {} was changed", damaged, file_.string()));
  if (older > 0)
    warn_(fmt::format(
        "{} kept approvals are void: an older mcpac kept them, for every tool that their "
        "rules cover; they are asked for again",
        older));
  for (const Json& entry : *programs) approvals.programs.push_back(program_from(entry));
  return approvals;
}

Result<void> ApprovalStore::change(const std::function<void(Approvals&)>& edit) const {
  if (file_.empty())
    return fail(ErrorId::kFileUnwritable, "this account has no home folder to keep it in");
  auto turn = take_turn(file_.parent_path(), "kept approvals");
  if (!turn) return pass_on(turn);
  Approvals approvals = read();
  edit(approvals);
  keep_newest(approvals.answers);
  keep_newest(approvals.programs);
  return write_file_atomic(file_, text_of(approvals), 0600);
}

RunMemory::RunMemory(const ApprovalStore& store, gate::Binding binding, std::string program)
    : store_(store),
      binding_(std::move(binding)),
      program_(std::move(program)),
      known_(store.read()) {}

std::optional<gate::Reply> RunMemory::find(const policy::AskRule& rule) {
  std::optional<gate::Reply> found;
  for (const auto& answer : known_.answers) {
    if (answer.binding != binding_ || answer.rule != rule) continue;
    gate::Reply reply{.answer = answer.answer, .who = answer.who};
    if (answer.answer == gate::Answered::kUntil) {
      reply.until = *policy::parse_rfc3339(answer.until);
      if (reply.until <= store_.clock().wall_now()) continue;
    }
    found = std::move(reply);  // the newest
  }
  return found;
}

Result<void> RunMemory::keep(const std::vector<policy::AskRule>& rules, const gate::Reply& reply) {
  auto kept = store_.change([&](Approvals& approvals) {
    for (const auto& rule : rules) {
      std::erase_if(approvals.answers, [&](const StoredAnswer& other) {
        return other.binding == binding_ && other.rule == rule;
      });
      StoredAnswer answer{
          .id = {},
          .binding = binding_,
          .rule = rule,
          .answer = reply.answer,
          .until = reply.answer == gate::Answered::kUntil ? rfc3339_utc(reply.until) : "",
          .who = reply.who,
          .given = rfc3339_utc(store_.clock().wall_now()),
          .program = program_};
      answer.id = id_of(answer);
      approvals.answers.push_back(std::move(answer));
    }
  });
  if (!kept) store_.warn("an answer holds for this run only: " + kept.error().what);
  return kept;
}

}  // namespace mcpac::run
