// The way of a call that a rule asks about: a standing answer, a question, or a no at once.
#include <algorithm>
#include <string>
#include <utility>

#include "gate/gate_state.h"

namespace mcpac::gate {

Gate::CallId Gate::State::inquire(Check check, const Permission& permission, Json arguments,
                                  CallContext party) {
  const CallId id = check.call_id;
  auto known = asking.standing(check.asks);
  if (!known) return refuse(check, internal(kNotRecorded), party);
  if (*known && is_yes((*known)->answer)) {
    return approve(std::move(check), permission, std::move(arguments), std::move(party), **known);
  }
  if (*known) {
    check.approval = (*known)->approval;
    check.said_no = Check::SaidNo::kForGood;
    return refuse_unapproved(std::move(check),
                             "it needs an approval, and that was refused for good", "", party);
  }
  if (auto why_not = asking.obstacle())
    return refuse_unapproved(std::move(check), std::move(*why_not), "", party);
  Asking::Asked asked{check.capability, std::move(arguments), check.asks, party.caller};
  waiting.emplace(id, Waiting{std::move(check), permission, std::move(party)});
  asking.ask(id, std::move(asked),
             [this, id](const Question& question, const Asking::Standing& standing) {
               answered(id, question, standing);
             });
  return id;
}

void Gate::State::answered(CallId id, const Question& question, const Asking::Standing& standing) {
  auto node = waiting.extract(id);
  if (node.empty()) return;  // taken back
  const auto keep = shared_from_this();
  Waiting& call = node.mapped();
  if (call_digest(question.permission, question.arguments) != question.call_digest) {
    refuse(call.check, internal("the call is not the one that was asked about"), call.party);
    return;
  }
  if (is_yes(standing.answer)) {
    approve(std::move(call.check), call.permission, question.arguments, std::move(call.party),
            standing);
    return;
  }
  call.check.approval = standing.approval;
  if (standing.answer != Answered::kNobody)
    call.check.said_no =
        standing.answer == Answered::kNever ? Check::SaidNo::kForGood : Check::SaidNo::kToThisCall;
  std::string reason = standing.answer == Answered::kNobody
                           ? "it needs an approval, and no valid answer came"
                           : "it needs an approval, and the answer was no";
  std::string_view detail = standing.detail;
  if (!standing.for_caller.empty()) {
    reason.append(": ").append(standing.for_caller);
    if (detail == standing.for_caller) detail = {};
  }
  refuse_unapproved(std::move(call.check), std::move(reason), detail, call.party);
}

Gate::CallId Gate::State::approve(Check check, const Permission& permission, Json arguments,
                                  CallContext party, const Asking::Standing& standing) {
  check.approval = standing.approval;
  Reservation reservation;
  if (auto error = judge_approved(permission, arguments, check, reservation))
    return refuse(check, std::move(*error), party);
  return admit(check, permission, std::move(arguments), reservation, std::move(party));
}

std::optional<CallError> Gate::State::judge_approved(const Permission& permission,
                                                     const Json& arguments, Check& check,
                                                     Reservation& reservation) {
  if (auto error = still_callable(permission, check)) return error;
  check.evidence = {};
  check.decided_by = DecidedBy::kPolicy;
  policy::Decision decision =
      setup.authority.decide(permission, arguments, check.asks, check.evidence, lifted());
  note(decision, check, reservation);
  if (decision.effect == policy::Effect::kAllow || decision.lifted) return std::nullopt;
  if (decision.effect == policy::Effect::kAsk)
    check.reason = "another rule asks about the call by now";
  return denied(check.capability, check.reason, setup.declared.texts);
}

// Why there was no answer is the user's business; the program hears that there was none, and what
// is about its own side.
Gate::CallId Gate::State::refuse_unapproved(Check check, std::string reason,
                                            std::string_view detail, const CallContext& party) {
  CallError error = denied(check.capability, reason, setup.declared.texts);
  check.decided_by = DecidedBy::kApproval;
  check.reason = std::move(reason);
  if (!detail.empty()) check.reason.append(": ").append(detail);
  return refuse(check, std::move(error), party);
}

void Gate::State::take_back(const std::vector<CallId>& ids,
                            const std::function<CallError(const Waiting&)>& error) {
  std::vector<Waiting> calls;
  for (const CallId id : ids) {
    if (auto node = waiting.extract(id); !node.empty()) calls.push_back(std::move(node.mapped()));
  }
  if (calls.empty()) return;
  const auto keep = shared_from_this();
  asking.forget(ids);
  for (Waiting& call : calls) {
    CallError why = error(call);
    call.check.decided_by = DecidedBy::kApproval;
    call.check.reason = "the question was taken back: " + why.message;
    if (!closed && !record(call.check, call.party.caller.get())) why = internal(kNotRecorded);
    call.party.done(std::unexpected(std::move(why)));
  }
}

}  // namespace mcpac::gate
