// SPDX-License-Identifier: Apache-2.0

#include "policy/decide/canonical_urls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/offer.h"
#include "core/schema/uri.h"
#include "core/unicode_folding.h"
#include "policy/decide/decide.h"
#include "policy/match/url.h"

namespace mcpac::policy {
namespace {

// Each URL of a text in the one spelling; what stands between those of a list stays. Nothing where
// one cannot be read.
std::optional<std::string> in_one_spelling(const std::string& text) {
  std::string whole;
  std::size_t done = 0;
  for (const auto one : listed_urls(text)) {
    const auto url = read_url(one);
    if (!url) return std::nullopt;
    const auto begin = static_cast<std::size_t>(one.data() - text.data());
    whole.append(text, done, begin - done).append(url->sent_text());
    done = begin + one.size();
  }
  return whole;
}

bool rewrite(Json& value, std::span<const ast::Step> steps) {
  if (steps.empty()) {
    if (!value.is_string()) return false;
    auto& text = value.get_ref<std::string&>();
    auto canonical = in_one_spelling(text);
    if (!canonical || *canonical == text) return false;
    text = std::move(*canonical);
    return true;
  }
  const auto below = steps.subspan(1);
  if (const auto* member = std::get_if<ast::Member>(&steps.front())) {
    const auto found = value.is_object() ? value.find(member->name) : value.end();
    return found != value.end() && rewrite(*found, below);
  }
  bool changed = false;
  if (value.is_array()) {
    for (auto& element : value) changed = rewrite(element, below) || changed;
  }
  return changed;
}

// The members that rules over a tool read.
NamedMembers named_by_rules(std::span<const CompiledLayer> layers, const Permission& permission) {
  NamedMembers named;
  for (const auto& layer : layers) {
    for (const auto* target : covering(layer, permission)) {
      if (!target->brackets) continue;
      for (const auto& arg : target->brackets->args) {
        NamedMembers* at = &named;
        for (const auto& step : arg.steps) {
          if (const auto* member = std::get_if<ast::Member>(&step)) {
            at = &at->members[member->name];
            continue;
          }
          if (!at->elements) at->elements = std::make_unique<NamedMembers>();
          at = at->elements.get();
        }
      }
    }
  }
  return named;
}

// No lock says which arguments a prompt has, so two spellings of one are told by themselves.
std::optional<SchemaViolation> twice_named(const Json& arguments) {
  const Json* given = find_member(arguments, "arguments");
  if (given == nullptr || !given->is_object()) return std::nullopt;
  std::map<std::string, std::string> known;
  for (const auto& [name, value] : given->items()) {
    const auto [at, is_new] = known.try_emplace(folded_member(name), name);
    if (is_new) continue;
    return SchemaViolation{
        "/arguments/" + schema::pointer_token(name), "properties",
        fmt::format("is another spelling of \"{}\", which stands beside it, and some servers take "
                    "both for one: send one of them",
                    at->second.substr(0, 100))};
  }
  return std::nullopt;
}

}  // namespace

std::optional<SchemaViolation> misnamed(std::span<const CompiledLayer> layers,
                                        const Permission& permission, const JsonSchema& schema,
                                        const Json& arguments) {
  std::optional<NamedMembers> named;
  auto violation = schema.find_misnamed(arguments, [&]() -> const NamedMembers* {
    if (!named) named = named_by_rules(layers, permission);
    return &*named;
  });
  if (violation || permission.tool() != kGetPrompt) return violation;
  return twice_named(arguments);
}

bool canonicalise_urls(std::span<const CompiledLayer> layers, const Permission& permission,
                       Json& arguments) {
  bool changed = false;
  for (const auto& layer : layers) {
    for (const auto* target : covering(layer, permission)) {
      if (!target->brackets || layer.rules[target->rule].effect == Effect::kDeny) continue;
      for (const auto& arg : target->brackets->args) {
        const bool reads_url = std::ranges::any_of(arg.tests, is_url_test);
        if (reads_url && !arg.steps.empty()) changed = rewrite(arguments, arg.steps) || changed;
      }
    }
  }
  return changed;
}

std::optional<SchemaViolation> complete(std::span<const CompiledLayer> layers,
                                        const Permission& permission, const JsonSchema& schema,
                                        Json& arguments) {
  if (auto violation = misnamed(layers, permission, schema, arguments)) return violation;
  if (!schema.fill_defaults(arguments))
    return SchemaViolation{"", "limit", "leave out more than can be filled in with defaults"};
  canonicalise_urls(layers, permission, arguments);
  return schema.validate(arguments);
}

}  // namespace mcpac::policy
