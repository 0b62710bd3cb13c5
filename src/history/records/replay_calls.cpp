#include "history/records/replay_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/rfc3339.h"
#include "gate/answer.h"
#include "gate/approver.h"

namespace mcpac::history {
namespace {

using gate::DecidedBy;

// Answers of an older mcpac ("rule") were about every tool that the rule covers: they name none.
std::set<policy::AskRule> rules_of(const Json& payload) {
  std::set<policy::AskRule> rules;
  const std::string tool =
      string_member(payload, "scope") == "rule" ? "" : string_member(payload, "permission");
  const Json* list = find_member(payload, "rules");
  if (list == nullptr || !list->is_array()) return rules;
  for (const Json& rule : *list)
    rules.insert({string_member(rule, "layer"), string_member(rule, "rule"), tool});
  return rules;
}

}  // namespace

ReplayAnswer CallReplay::check(const RecordedCheck& check, Revoked revoked) {
  answer_ = {};
  const auto permission = Permission::parse(check.capability);
  const bool is_known = permission && run_.tools.table.contains(*permission);
  if (check.decided_by == DecidedBy::kNotOffered) {
    if (check.allowed) differ("what was not offered was allowed");
    return std::move(answer_);
  }
  if (check.decided_by == DecidedBy::kUnknownTool || !is_known) {
    if (is_known || check.allowed || check.decided_by != DecidedBy::kUnknownTool) {
      differ(is_known ? "the lock has the tool" : "the lock has no such tool");
    }
    return std::move(answer_);
  }
  if (check.tool_digest != run_.tools.table.at(*permission).digest)
    differ("it is about another definition of the tool than the lock's");
  if (check.level != policy::to_string(run_.authority->audit_level(*permission)))
    differ("the rules want the call recorded in another way");
  hold_against_run(check, *permission, revoked);
  decide(check, *permission, revoked);
  return std::move(answer_);
}

void CallReplay::approval(const audit::Event& event) {
  const auto answer = gate::answered_from(string_member(event.payload, "answer"));
  approvals_[event.event_id] = {.yes = answer && gate::is_yes(*answer),
                                .once = answer == gate::Answered::kOnce,
                                .until = string_member(event.payload, "until"),
                                .rules = rules_of(event.payload)};
}

std::vector<std::string> CallReplay::finished(const Json& payload) {
  const Json* call = find_member(payload, "call_id");
  if (call == nullptr || !call->is_number_unsigned()) return {};
  const auto held = reservations_.extract(call->get<std::uint64_t>());
  if (held.empty()) return {};
  const Json* charged = find_member(payload, "charged_bytes");
  const std::uint64_t bytes =
      charged != nullptr && charged->is_number_unsigned() ? charged->get<std::uint64_t>() : 0;
  const bool delivered = run_.authority->settle(held.mapped(), bytes);
  if (bytes == 0 || delivered == (string_member(payload, "outcome") != "budget")) return {};
  return {delivered ? "a result was held back that fits into 'bytes in'"
                    : "a result was delivered that does not fit into 'bytes in'"};
}

// What no allowed call may meet, whatever the rules say.
void CallReplay::hold_against_run(const RecordedCheck& check, const Permission& permission,
                                  Revoked revoked) {
  if (!check.allowed) return;
  if (revoked == Revoked::kYes) differ("it was allowed after its permission was taken back");
  if (drifted_.contains(check.capability)) differ("it was allowed after its tool had changed");
  if (check.would_deny && !run_.observes)
    differ("it was let through against the policy, and the run was not to be observed only");
  const bool may_allow = check.decided_by == DecidedBy::kPolicy ||
                         (check.would_deny && check.decided_by == DecidedBy::kDeclared);
  if (!may_allow) differ("it was allowed by a step that only refuses");
  if (!check.would_deny && !run_.declared.contains(permission))
    differ("it was allowed, and the program does not declare it");
}

void CallReplay::decide(const RecordedCheck& check, const Permission& permission, Revoked revoked) {
  run_.clock.set(check.evidence);
  switch (check.decided_by) {
    case DecidedBy::kRevoked:
      if (revoked == Revoked::kNo) differ("nothing had been taken back");
      return;
    case DecidedBy::kDeclared:
      if (run_.declared.contains(permission)) differ("the program declares it");
      return;
    case DecidedBy::kDrift:
      drifted_.insert(check.capability);
      return leave_out("it rests on what a server did");
    case DecidedBy::kNotObject:
    case DecidedBy::kTooLarge:
      return leave_out(
          "its arguments are no object or too large to keep, or its paths are too many");
    case DecidedBy::kSchema: {
      const std::size_t before = answer_.differences.size();
      schema_decision(check, permission);
      return excuse_older(before);
    }
    case DecidedBy::kPolicy:
    case DecidedBy::kApproval: break;
    case DecidedBy::kNotOffered:
    case DecidedBy::kUnknownTool: return;
  }
  auto facts = run_.loaded_paths;
  facts.insert(facts.end(), check.evidence.paths.begin(), check.evidence.paths.end());
  run_.paths.set(std::move(facts));
  if (check.decided_by == DecidedBy::kPolicy && !check.asks.empty()) approved(check);
  const auto arguments = arguments_of(check, permission);
  const bool is_asked = check.decided_by == DecidedBy::kApproval;
  // The check of a call that waited for an answer is of the time before.
  if (!is_asked && check.evidence.meters != run_.authority->meter_readings(permission))
    differ("the limits were used otherwise than the calls before it say");
  if (!arguments) {
    return take_over(check,
                     check.redacted
                         ? "secrets were taken out of its arguments"
                         : fmt::format("its arguments were not recorded (audit {})", check.level));
  }
  const std::size_t before = answer_.differences.size();
  if (is_asked) {
    asked_decision(check, permission, *arguments);
  } else {
    policy_decision(check, permission, *arguments);
  }
  excuse_older(before);
}

// An older mcpac read values and schemas in fewer ways. What it decided otherwise is no sign of a
// changed record, and is counted as not made again.
void CallReplay::excuse_older(std::size_t before) {
  if (!run_.is_older || answer_.differences.size() == before) return;
  answer_.differences.resize(before);
  leave_out("an older mcpac decided it, which read values in fewer ways");
}

std::optional<Json> CallReplay::arguments_of(const RecordedCheck& check,
                                             const Permission& permission) const {
  if (!run_.authority->weighs_arguments(permission)) return Json::object();
  if (check.redacted) return std::nullopt;
  return check.arguments;
}

// Not made again: but what it says must fit itself, and later calls are counted from it.
void CallReplay::take_over(const RecordedCheck& check, std::string why) {
  leave_out(std::move(why));
  const bool all_allow = std::ranges::all_of(check.evidence.layers, [](const auto& layer) {
    return layer.effect == policy::Effect::kAllow;
  });
  const bool admitted = all_allow && !check.evidence.layers.empty();
  if (admitted != (check.allowed && !check.would_deny))
    differ("its answer is not that of the layers that it names");
  // What was lifted counts in the layers above the run's own.
  if (admitted || (check.allowed && check.would_deny))
    reservations_[check.call_id] = run_.authority->charge_again(check.evidence);
}

void CallReplay::policy_decision(const RecordedCheck& check, const Permission& permission,
                                 const Json& arguments) {
  if (check.arguments && !check.redacted) {
    Json completed = *check.arguments;
    const auto violation =
        run_.authority->complete(permission, *run_.tools.table.at(permission).input, completed);
    if (violation || completed != *check.arguments)
      differ("the locked schema refuses its arguments, or would have completed them");
  }
  policy::Evidence now;
  // What was refused although it was lifted is told by what is not lifted.
  const auto lifted =
      run_.observes && !check.allowed ? policy::Lifted::kUngranted : policy::Lifted::kNothing;
  const auto decision = run_.authority->decide(permission, arguments, check.asks, now, lifted);
  if (decision.lifted) {
    differ("it was refused, and nothing is against it but that it was not granted");
    run_.authority->give_back(decision.reservation);
  }
  const bool was_admitted = check.allowed && !check.would_deny;
  if (decision.allowed() != was_admitted) {
    differ(fmt::format("it was {}, and is {}", was_admitted ? "allowed" : "denied",
                       decision.allowed() ? "allowed" : "denied"));
    if (decision.allowed()) run_.authority->give_back(decision.reservation);
    if (was_admitted) reservations_[check.call_id] = run_.authority->charge_again(check.evidence);
    return;
  }
  if (decision.allowed()) reservations_[check.call_id] = decision.reservation;
  if (check.allowed && check.would_deny) {
    if (!decision.only_ungranted)
      differ("it was let through, and more is against it than that it was not granted");
    reservations_[check.call_id] = run_.authority->charge_again(check.evidence);
  }
  compare(check, now);
  if (gate::bounded(decision.rule, gate::kRecordedText) != check.rule ||
      decision.layer != check.layer)
    differ(fmt::format("it names the rule '{}' of {}, and it is '{}' of {}", check.rule,
                       check.layer, decision.rule, decision.layer));
}

void CallReplay::asked_decision(const RecordedCheck& check, const Permission& permission,
                                const Json& arguments) {
  policy::Evidence now;
  const auto decision =
      run_.authority->decide_as_of(check.evidence.meters, permission, arguments, now);
  if (check.allowed) return;  // said already: no step but the policy allows
  if (decision.effect != policy::Effect::kAsk) differ("no rule asks about it");
  compare(check, now);
}

void CallReplay::compare(const RecordedCheck& check, const policy::Evidence& now) {
  if (now.layers != check.evidence.layers) differ("its layers answer otherwise");
  if (run_.paths.missed_any())
    differ("it asks the file system for a path that nobody asked for then");
}

void CallReplay::schema_decision(const RecordedCheck& check, const Permission& permission) {
  if (!check.arguments || check.redacted)
    return leave_out(fmt::format("its arguments were not recorded (audit {})", check.level));
  Json completed = *check.arguments;
  const auto violation =
      run_.authority->complete(permission, *run_.tools.table.at(permission).input, completed);
  if (!violation || violation->keyword != check.rule)
    differ("the locked schema does not refuse its arguments for that");
}

// Every rule that asks about it had its yes before, and a yes to one call was for one call.
void CallReplay::approved(const RecordedCheck& check) {
  const auto found = approvals_.find(check.approval);
  if (found == approvals_.end() || !found->second.yes) return differ("nobody had said yes to it");
  if (found->second.once && std::exchange(found->second.used, true))
    differ("a yes to one call was used for several");
  const std::string now = rfc3339_utc(run_.clock.wall_now());
  std::set<policy::AskRule> answered = found->second.rules;
  for (const auto& [id, approval] : approvals_) {
    // Both texts are UTC of one length: they order as the times do.
    const bool holds =
        approval.yes && !approval.once && (approval.until.empty() || now < approval.until);
    if (holds) answered.insert(approval.rules.begin(), approval.rules.end());
  }
  for (const auto& rule : check.asks) {
    if (!answered.contains(rule) && !answered.contains({rule.layer, rule.rule, ""}))
      differ("nobody had said yes to the rule '" + rule.rule + "'");
  }
}

}  // namespace mcpac::history
