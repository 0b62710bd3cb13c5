#include "execute/records/denials.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/denial_text.h"
#include "core/printable.h"
#include "core/shell_quote.h"
#include "gate/answer.h"

namespace mcpac::execute {
namespace {

// More than a person reads; the audit log has them all.
constexpr std::size_t kMaxKinds = 10;
// A reason may quote a value of the program.
constexpr std::size_t kMaxText = 1000;

}  // namespace

void Denials::add(const gate::Check& check) {
  const std::string reason = gate::bounded(check.reason, kMaxText);
  const std::string rule = gate::bounded(check.rule, kMaxText);
  const auto known = std::ranges::find_if(list_, [&](const Denial& one) {
    return one.permission == check.capability && one.rule == rule && one.layer == check.layer &&
           one.reason == reason;
  });
  if (known != list_.end()) {
    ++known->calls;
  } else if (list_.size() == kMaxKinds) {
    ++others_;
  } else {
    list_.push_back({.permission = check.capability,
                     .reason = reason,
                     .rule = rule,
                     .layer = check.layer,
                     .other_rules = check.other_rules,
                     .would_grant = check.would_grant,
                     .calls = 1,
                     .asked = !check.asks.empty(),
                     .used_up = check.used_up});
  }
}

Json to_json(const Denial& denial) {
  return {{"permission", denial.permission},
          {"reason", denial.reason},
          {"rule", denial.rule},
          {"layer", denial.layer},
          {"other_rules", denial.other_rules},
          {"would_grant", denial.would_grant},
          {"calls", denial.calls},
          {"asked", denial.asked},
          {"used_up", denial.used_up}};
}

std::string to_human_text(const Denial& denial) {
  const std::string times = denial.calls == 1 ? "" : fmt::format(" ({} calls)", denial.calls);
  std::string text =
      printable(fmt::format("denied: {}: {}{}", denial.permission,
                            denial_text(denial.reason, denial.rule, denial.other_rules), times),
                2 * kMaxText);
  const std::string fix =
      denial.asked     ? "a person at the terminal or --approver COMMAND answers what is asked"
      : denial.used_up ? fmt::format("raise the limit of `{}` in {}", denial.rule, denial.layer)
      : denial.would_grant.starts_with("--") ? denial.would_grant  // of a place
      : !denial.would_grant.empty() ? fmt::format("--grant {}", shell_quoted(denial.would_grant))
      : denial.layer.empty()        ? ""
                                    : fmt::format("no --grant helps: {} decides", denial.layer);
  return fix.empty() ? text : fmt::format("{}\n  fix: {}", text, printable_in_place(fix));
}

}  // namespace mcpac::execute
