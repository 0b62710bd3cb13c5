#include "execute/check/require_granted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/printable.h"
#include "policy/explain/lint.h"

namespace mcpac::execute {
namespace {

Result<CheckResult> check_against(const GrantCheck& parts, const analyzer::Report& report,
                                  const policy::LayerText& granted) {
  auto authority = load_authority(parts.project, parts.world, {granted});
  if (!authority) return pass_on(authority);
  return check(report, *authority);
}

// What a person said of the grants that they were shown, for the record of the run.
void note_answer(const CheckResult& result, bool is_given, std::vector<Json>* answers) {
  if (answers == nullptr) return;
  Json rules = Json::array();
  for (const auto& rule : result.to_grant)
    rules.push_back({{"layer", "the command line"}, {"rule", "allow " + rule}});
  answers->push_back({{"scope", "grants"},
                      {"rules", std::move(rules)},
                      {"answer", is_given ? "yes" : "no"},
                      {"who", "the person at the terminal"}});
}

std::unexpected<Error> missing_error(const analyzer::Report& report, const CheckResult& result) {
  const bool is_denied = result.to_lift.size() == result.missing.size();
  std::string why = result.blocked.empty() ? "a program may do only what its user granted"
                                           : fmt::format("{}", fmt::join(result.blocked, "; "));
  if (!result.unknown.empty() && !result.to_grant.empty())
    why += fmt::format(
        "; what {} will be called with is not all known before the run, and the fix leaves that "
        "open",
        fmt::join(result.unknown, ", "));
  if (!result.unused.empty())
    why += fmt::format("; no call of {} is to be seen: what is not used needs no declaration",
                       fmt::join(result.unused, ", "));
  return fail(
      ErrorId::kPermissionMissing,
      fmt::format("{} declares {} {}: {}", report.file,
                  result.missing.size() == 1 ? "a permission that was" : "permissions that were",
                  is_denied ? "denied" : "not granted", fmt::join(result.missing, ", ")),
      {.where = report.file, .why = std::move(why), .fix = result.fix});
}

}  // namespace

void warn_of_open_ends(const std::function<void(std::string_view)>& warning,
                       const policy::LayerText& granted, const policy::ToolSchemas* tools) {
  const auto warn = [&](std::string_view option, const std::string& rule, policy::Effect effect) {
    for (const auto& note : policy::open_ends(rule, effect, tools))
      warning(fmt::format("{}: {}", option, printable_in_place(note)));
  };
  for (const auto& rule : granted.grants) warn("--grant", rule, policy::Effect::kAllow);
  for (const auto& rule : granted.asks) warn("--ask", rule, policy::Effect::kAsk);
  for (const auto& rule : granted.denies) warn("--deny", rule, policy::Effect::kDeny);
}

void warn_of_observing(const Listener& listener) {
  listener.warning(
      "permission checks are off: calls that would be denied are made, and audited as such");
}

Result<void> require_granted(const GrantCheck& parts, const analyzer::Report& report,
                             policy::LayerText& granted, CheckResult& result) {
  auto first = check_against(parts, report, granted);
  if (!first) return pass_on(first);
  result = std::move(*first);
  warn_of_open_ends(parts.listener.warning, granted, &parts.world.tools);
  for (const auto& text : result.extra) {
    // A place that was granted and is not there surprises the program. A tool more than it names it
    // cannot miss, and a policy is often for more than one program.
    const bool is_place = policy::place_kind_of(text).has_value();
    const std::string says =
        fmt::format("{} is granted, but the program does not declare it", text);
    is_place ? parts.listener.warning(says) : parts.listener.note(says);
  }
  for (const auto& text : result.unproven) {
    parts.listener.note(fmt::format(
        "{}: whether the grants admit all of it could not be told; each call will be decided",
        text));
  }
  if (parts.enforcement == Enforcement::kObserve) {
    warn_of_observing(parts.listener);
    // What a ceiling or a deny refuses is not lifted.
    result.to_grant.clear();
    if (result.to_allow.empty() && result.to_lift.empty()) return {};
    return missing_error(report, result);
  }
  // A yes names no place.
  const bool can_be_granted = result.to_place.empty() && result.to_state.empty();
  const bool is_asked = !result.ok() && can_be_granted && !result.to_grant.empty() &&
                        static_cast<bool>(parts.listener.may_grant);
  const bool is_given = is_asked && parts.listener.may_grant(result, parts.stop);
  if (is_asked) note_answer(result, is_given, parts.answers);
  if (is_given) {
    // Exactly what was shown, and then the same check again: a yes does not lift a deny or a
    // ceiling.
    for (const auto& rule : result.to_grant) granted.grants.push_back(rule);
    auto again = check_against(parts, report, granted);
    if (!again) return pass_on(again);
    result = std::move(*again);
  }
  if (result.ok()) return {};
  return missing_error(report, result);
}

}  // namespace mcpac::execute
