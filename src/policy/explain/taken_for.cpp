// SPDX-License-Identifier: Apache-2.0

#include "policy/explain/taken_for.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/printable.h"
#include "core/shell_quote.h"
#include "policy/match/path_value.h"
#include "policy/match/system_path_resolver.h"

namespace mcpac::policy {
namespace {

constexpr std::size_t kMaxShown = 200;

// The rule that the decision names, with the test that it failed.
const RuleStanding* deciding(const Explanation& explanation) {
  for (const auto& layer : explanation.layers) {
    if (layer.name != explanation.decision.layer) continue;
    const auto found = std::ranges::find_if(layer.rules, [&](const RuleStanding& rule) {
      return rule.rule == explanation.decision.rule && rule.why == explanation.decision.reason;
    });
    return found == layer.rules.end() ? nullptr : &*found;
  }
  return nullptr;
}

// The path behind `within` or `matches`; empty where the test is another.
std::string_view place_in(std::string_view test) {
  for (const std::string_view word : {"within ", "matches "}) {
    if (const auto at = test.find(word); at != std::string_view::npos)
      return test.substr(at + word.size());
  }
  return {};
}

// What an explanation quotes as a value: JSON, and none where it is cut.
std::optional<std::string> relative_path(const std::string& quoted) {
  const auto value = parse_json(quoted);
  if (!value || !value->is_string()) return std::nullopt;
  auto text = value->get<std::string>();
  const auto path = read_path_value(text);
  if (!path || path->absolute) return std::nullopt;
  return text;
}

// "/x" of "." below "/x": without the slash that a normal form of folders has at its end.
std::string place_below(const std::string& base, const std::string& value) {
  std::string place = (std::filesystem::path(base) / value).lexically_normal().string();
  while (place.size() > 1 && place.back() == '/') place.pop_back();
  return place;
}

// Where a link on the way below `base` leads; empty where there is none, or it cannot be told.
std::string leads_to(const std::string& base, const std::string& value) {
  const SystemPathResolver files;
  const auto folder = files.resolve(base);
  if (!folder) return {};
  const std::string straight = place_below(*folder, value);
  auto real = files.resolve(straight);
  return real && *real != straight ? std::move(*real) : "";
}

// Every place that the value may be.
std::string ambiguous(const Permission& permission, const PathReading& paths,
                      const std::string& value) {
  const auto below = [&](const std::string& base) {
    return printable(place_below(base, value), kMaxShown);
  };
  const auto& server = permission.server();
  std::string it = fmt::format("it may be {}, counted from {}", below(paths.admit_base),
                               paths.has_root ? "the root of " + server : "the current folder");
  for (const auto& folder : paths.further_bases)
    it += fmt::format(", or {}, counted from {}", below(folder), printable(folder, kMaxShown));
  it += fmt::format(": {} was given {}, and an allow needs all of these inside", server,
                    paths.further_bases.size() == 1 ? "that folder" : "these folders");
  if (!paths.settling_root.empty())
    return fmt::format("{}; mcpac server set {} --root {} says which is meant", it, server,
                       shell_quoted(paths.settling_root));
  return it + "; no root settles it: the call needs the absolute path";
}

// What "~" stands for, which is the account's home and not what $HOME says.
std::string home_in(std::string_view place, const PathReading& paths) {
  const bool is_of_home = place.starts_with("~/") || place.starts_with("\"~/");
  if (!is_of_home || paths.home.empty()) return {};
  return fmt::format("~ in a rule is {}, the home of the account",
                     printable(paths.home, kMaxShown));
}

std::string relative_taken_for(const Permission& permission, const PathReading& paths,
                               std::string_view place, const std::string& value) {
  const std::string whole = place_below(paths.admit_base, value);
  const std::string link = paths.lexical_only ? "" : leads_to(paths.admit_base, value);
  const std::string it =
      fmt::format("it is {}{}, counted from", printable(whole, kMaxShown),
                  link.empty() ? "" : fmt::format(", a link to {}", printable(link, kMaxShown)));
  if (paths.is_unknown) {
    const std::string folder =
        paths.settling_root.empty() ? "DIR" : shell_quoted(paths.settling_root);
    return fmt::format(
        "where {0} starts is not known, as a shell or a container starts it, so no rule admits a "
        "relative path; mcpac server set {0} --root {1} says it",
        permission.server(), folder);
  }
  if (!paths.further_bases.empty()) return ambiguous(permission, paths, value);
  if (paths.has_root) return fmt::format("{} the root of {}", it, permission.server());
  const bool is_of_here = place.starts_with("./") || place.starts_with("\"./");
  return fmt::format("{} the current folder, as {} has no --root{}", it, permission.server(),
                     is_of_here ? "" : ": then only a rule with ./ admits a relative path");
}

}  // namespace

std::string tested_argument(const Explanation& explanation) {
  const RuleStanding* rule = deciding(explanation);
  return rule == nullptr ? std::string() : rule->argument;
}

std::string taken_for(const Permission& permission, const Explanation& explanation) {
  if (explanation.decision.effect != Effect::kDeny || !explanation.paths) return {};
  const RuleStanding* rule = deciding(explanation);
  if (rule == nullptr) return {};
  const std::string_view place = place_in(rule->test);
  if (place.empty()) return {};
  const PathReading& paths = *explanation.paths;
  const auto value = relative_path(rule->value);
  std::string home = home_in(place, paths);
  if (!value) return home;
  std::string it = relative_taken_for(permission, paths, place, *value);
  return home.empty() ? it : it + "; " + home;
}

}  // namespace mcpac::policy
