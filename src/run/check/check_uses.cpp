// SPDX-License-Identifier: Apache-2.0

#include "run/check/check_uses.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/denial_text.h"
#include "core/printable.h"
#include "policy/explain/taken_for.h"
#include "run/check/call_in_source.h"
#include "run/check/check.h"

namespace mcpac::run {
namespace {

analyzer::Foreseen::Answer answer_of(policy::Outlook outlook) {
  using Answer = analyzer::Foreseen::Answer;
  switch (outlook) {
    case policy::Outlook::kCovered: return Answer::kCovered;
    case policy::Outlook::kConditional: return Answer::kConditional;
    case policy::Outlook::kDenied: break;
  }
  return Answer::kDenied;
}

// The authority as the run will have it: with the declaration as a layer of its own, so that a
// Narrow counts.
Result<policy::Authority> authority_of(const project::Project& project, const PolicyWorld& world,
                                       const policy::LayerText& granted,
                                       const analyzer::Report& report) {
  auto rules = declared_rules(report);
  if (!rules) return pass_on(rules);
  return load_authority(project, world, {granted, declaration_layer(std::move(*rules))});
}

Error denial(const analyzer::Report& report, const std::vector<analyzer::Finding>& denied) {
  const auto& first = denied.front();
  Error error;
  error.id = ErrorId::kUseDenied;
  error.what = denied.size() == 1 ? fmt::format("{} makes a call that will be denied", report.file)
                                  : fmt::format("{} makes {} calls that will be denied",
                                                report.file, denied.size());
  error.where = fmt::format("{}:{}:{}", first.file, first.line, first.column);
  error.why =
      fmt::format("{}; a call with these constants fails whenever it is made", first.message);
  error.fix = first.fix;
  return error;
}

// What relative paths of denied calls were taken for: no part of the report, which others read,
// too.
void tell_paths(const GrantCheck& parts, const policy::LayerText& granted,
                const analyzer::Report& report) {
  auto authority = authority_of(parts.project, parts.world, granted, report);
  if (!authority) return;
  for (const auto& use : report.uses) {
    const auto permission = Permission::parse(use.permission);
    const bool is_denied = use.foreseen && !use.foreseen->is_expected &&
                           use.foreseen->answer == analyzer::Foreseen::Answer::kDenied;
    if (!permission || !is_denied) continue;
    const auto found = authority->explain(*permission, call_in_source(use).known);
    const std::string path = policy::taken_for(*permission, found);
    if (path.empty()) continue;
    parts.listener.warning(
        printable(fmt::format("{}:{}:{}: of {}: {}", use.file, use.line, use.column,
                              policy::tested_argument(found), path)));
  }
}

// What --no-permission-check lifts. Where no rule speaks of the tool at all, the check of what is
// declared has said so.
void warn_of_denials(const Listener& listener, const analyzer::Report& report) {
  for (const auto& use : report.uses) {
    const auto& foreseen = use.foreseen;
    if (!foreseen || !foreseen->is_lifted || foreseen->rule.empty()) continue;
    listener.warning(fmt::format(
        "{}:{}:{}: {} would be denied, and is called: {}", use.file, use.line, use.column,
        use.permission, denial_text(foreseen->reason, foreseen->rule, foreseen->other_rules)));
  }
}

void foresee_by(const policy::Authority& authority, DeniedUses denied, analyzer::Report& report) {
  for (auto& use : report.uses) {
    const auto permission = Permission::parse(use.permission);
    if (!permission) continue;  // the analysis let only names of the lock through
    policy::Foresight foresight =
        authority.foresee(*permission, call_in_source(use),
                          denied == DeniedUses::kLiftUngranted ? policy::Lifted::kUngranted
                                                               : policy::Lifted::kNothing);
    const bool is_denied = foresight.outlook == policy::Outlook::kDenied;
    const bool is_lifted =
        is_denied && denied == DeniedUses::kLiftUngranted && foresight.only_ungranted;
    use.foreseen = {.answer = answer_of(foresight.outlook),
                    .reason = std::move(foresight.reason),
                    .rule = std::move(foresight.rule),
                    .layer = std::move(foresight.layer),
                    .place = std::move(foresight.place),
                    .depends_on = std::move(foresight.depends_on),
                    .is_expected = is_lifted || (is_denied && denied == DeniedUses::kExpect),
                    .other_rules = foresight.other_rules,
                    .would_grant = std::move(foresight.would_grant),
                    .no_grant = std::move(foresight.no_grant),
                    .asks = foresight.asks,
                    .is_lifted = is_lifted};
  }
}

Result<void> refuse_denied(const analyzer::Report& report) {
  auto problems = analyzer::problems(report);
  std::erase_if(problems, [](const auto& problem) { return problem.rule != "denied-use"; });
  if (problems.empty()) return {};
  return std::unexpected(denial(report, problems));
}

}  // namespace

Result<void> foresee_uses(const project::Project& project, const PolicyWorld& world,
                          const policy::LayerText& granted, DeniedUses denied,
                          analyzer::Report& report) {
  if (report.uses.empty()) return {};
  auto authority = authority_of(project, world, granted, report);
  if (!authority) return pass_on(authority);
  foresee_by(*authority, denied, report);
  return {};
}

Result<void> require_declared(const PolicyWorld& world, analyzer::Report& report,
                              DeniedUses denied) {
  auto rules = declared_rules(report);
  if (!rules) return pass_on(rules);
  auto authority =
      policy::Authority::load({declaration_layer(std::move(*rules))}, world.environment());
  if (!authority) return pass_on(authority);
  foresee_by(*authority, denied, report);
  for (auto& use : report.uses) {
    if (use.foreseen && use.foreseen->answer != analyzer::Foreseen::Answer::kDenied)
      use.foreseen.reset();
  }
  return refuse_denied(report);
}

Result<void> require_admitted(const GrantCheck& parts, analyzer::Report& report,
                              const policy::LayerText& granted, DeniedUses denied) {
  const bool observes = parts.enforcement == Enforcement::kObserve;
  auto foreseen = foresee_uses(parts.project, parts.world, granted,
                               observes ? DeniedUses::kLiftUngranted : denied, report);
  if (!foreseen) return foreseen;
  if (observes) warn_of_denials(parts.listener, report);
  // What a ceiling or a deny refuses is not lifted, and told as in any run.
  if (observes && denied == DeniedUses::kExpect) return {};
  auto refused = refuse_denied(report);
  if (!refused) tell_paths(parts, granted, report);
  return refused;
}

}  // namespace mcpac::run
