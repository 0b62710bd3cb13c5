// SPDX-License-Identifier: Apache-2.0

#include "history/records/denials.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/denial_text.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "gate/answer.h"
#include "policy/decision.h"

namespace mcpac::history {
namespace {

// More than a person reads; the audit log has them all.
constexpr std::size_t kMaxKinds = 10;
// A reason may quote a value of the program.
constexpr std::size_t kMaxText = 1000;

}  // namespace

Denial to_denial(const gate::Check& check) {
  return {.permission = check.capability,
          .reason = gate::bounded(check.reason, kMaxText),
          .rule = gate::bounded(check.rule, kMaxText),
          .layer = check.layer,
          .place = check.place,
          .taken_for = check.taken_for,
          .other_rules = check.other_rules,
          .would_grant = check.would_grant,
          .no_grant = gate::bounded(check.no_grant, kMaxText),
          .calls = 1,
          .asked = !check.asks.empty(),
          .said_no = check.said_no,
          .used_up = check.used_up,
          .ended = check.ended};
}

void Denials::add(const gate::Check& check) {
  Denial denial = to_denial(check);
  const auto known = std::ranges::find_if(list_, [&](const Denial& one) {
    return one.permission == denial.permission && one.rule == denial.rule &&
           one.layer == denial.layer && one.reason == denial.reason;
  });
  if (known != list_.end()) {
    ++known->calls;
  } else if (list_.size() == kMaxKinds) {
    ++others_;
  } else {
    list_.push_back(std::move(denial));
  }
}

Json to_json(const Denial& denial) {
  return {{"permission", denial.permission},
          {"reason", denial.reason},
          {"rule", denial.rule},
          {"layer", denial.layer},
          {"taken_for", denial.taken_for},
          {"other_rules", denial.other_rules},
          {"would_grant", denial.would_grant},
          {"no_grant", denial.no_grant},
          {"calls", denial.calls},
          {"asked", denial.asked},
          {"used_up", denial.used_up},
          {"ended", denial.ended}};
}

std::string fix_of(const Denial& denial) {
  if (denial.said_no == gate::Check::SaidNo::kToThisCall)
    return "nothing, where the no was meant: the next run asks again";
  if (denial.said_no == gate::Check::SaidNo::kForGood)
    return "nothing, where `never` was meant; `mcpac approvals list` shows it, and it is asked "
           "again after `mcpac approvals forget ID`";
  if (denial.asked) return "a person at the terminal or --approver COMMAND answers what is asked";
  if (denial.ended)
    return fmt::format("a later end in `{}` ({}): until YYYY-MM-DDThh:mm:ssZ", denial.rule,
                       policy::place_or_layer(denial.place, denial.layer));
  // A higher limit, or a rule without one, would admit more than this call.
  if (denial.used_up)
    return fmt::format(
        "no --grant is suggested: a limit of `{}` ({}) is used up, and a higher one is for all of "
        "its calls; limits count per run and begin anew with the next",
        denial.rule, policy::place_or_layer(denial.place, denial.layer));
  if (!denial.would_grant.empty()) {
    // Some are whole options: of a place, of a rule that asks.
    const std::string option = denial.would_grant.starts_with("--")
                                   ? denial.would_grant
                                   : "--grant " + shell_quoted(denial.would_grant);
    return denial.calls == 1 ? option
                             : fmt::format("{}  # the first of {} calls", option, denial.calls);
  }
  if (!denial.no_grant.empty()) return fmt::format("no --grant is suggested: {}", denial.no_grant);
  const auto by = policy::place_or_layer(denial.place, denial.layer);
  if (denial.rule.starts_with("deny "))
    return fmt::format("no --grant helps: `{}` ({}) stands", denial.rule, by);
  return by.empty() ? "" : fmt::format("no --grant helps: {} decides", by);
}

std::string to_human_text(const Denial& denial) {
  const std::string times = denial.calls == 1 ? "" : fmt::format(" ({} calls)", denial.calls);
  std::string text =
      printable(fmt::format("denied: {}: {}{}", denial.permission,
                            denial_text(denial.reason, denial.rule, denial.other_rules), times),
                2 * kMaxText);
  if (!denial.taken_for.empty()) text += "\n  path: " + printable_in_place(denial.taken_for);
  const std::string fix = fix_of(denial);
  return fix.empty() ? text : fmt::format("{}\n  fix: {}", text, printable_in_place(fix));
}

}  // namespace mcpac::history
