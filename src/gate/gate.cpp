// SPDX-License-Identifier: Apache-2.0

#include "gate/gate.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gate/gate_state.h"
#include "gate/result_line.h"
#include "policy/explain/taken_for.h"
#include "policy/places.h"

namespace mcpac::gate {
Gate::CallId Gate::State::call(CallRequest request, Done done) {
  const CallId id = ++last_id;
  if (closed) {
    done(std::unexpected(revoked(request.permission)));
    return id;
  }
  Check check;
  check.call_id = id;
  check.capability = request.permission;
  check.program_run = std::move(request.program_run);
  CallContext party{std::move(done), std::move(request.caller)};
  const auto permission = Permission::parse(request.permission);
  const auto tool = permission ? setup.tools->find(*permission) : setup.tools->end();
  if (!request.is_offered) {
    check.decided_by = DecidedBy::kNotOffered;
    check.reason = "the client was offered no such tool";
    return refuse(check, unknown_tool(request.permission), party);
  }
  if (tool == setup.tools->end() || tool->second.input == nullptr) {
    check.reason = "the lock has no such tool";
    return refuse(check, unknown_tool(request.permission), party);
  }
  check.tool_digest = tool->second.digest;
  check.level = setup.authority.audit_level(*permission);
  Reservation reservation;
  auto error = judge(tool->second, *permission, request.arguments, check, reservation);
  if (error && !check.asks.empty())
    return inquire(std::move(check), *permission, std::move(request.arguments), std::move(party));
  if (error) {
    explain_denial(*permission, request.arguments, check);
    return refuse(check, std::move(*error), party);
  }
  return admit(check, *permission, std::move(request.arguments), reservation, std::move(party));
}

Gate::CallId Gate::State::admit(Check& check, const Permission& permission, Json arguments,
                                const Reservation& reservation, CallContext party) {
  check.allowed = true;
  const CallId id = check.call_id;
  if (!record(check, party.caller.get())) {
    setup.authority.give_back(reservation.id);
    party.done(std::unexpected(internal(kNotRecorded)));
    return id;
  }
  forward(id, permission, std::move(arguments), reservation, std::move(party));
  return id;
}

bool Gate::State::record(const Check& check, Caller* caller) {
  ++(check.allowed ? allowed : denied_calls);
  const auto recorded = setup.audit->append_text(
      "CapabilityCheck", check_payload(check, decision_ids.next(*setup.clock), setup.mode));
  if (recorded && caller != nullptr) caller->decided(check);
  return recorded.has_value();
}

// A refusal that cannot be recorded stays a refusal, and its user hears of it as of any other; the
// program hears of the log instead, since no later call will go through either.
Gate::CallId Gate::State::refuse(const Check& check, CallError error, const CallContext& party) {
  const CallId id = check.call_id;
  const bool is_denied = error.kind == ErrorKind::kDenied;
  if (!record(check, party.caller.get())) error = internal(kNotRecorded);
  if (setup.on_denied && is_denied) setup.on_denied(check);
  count_refusal();
  party.done(std::unexpected(std::move(error)));
  return id;
}

void Gate::State::count_refusal() {
  if (++refusals < setup.max_refusals || closed) return;
  std::ignore =
      setup.audit->append("Anomaly", {{"what", "too many refused calls: authority revoked"}});
  shut();
  abandon_if([](const Permission&) { return true; }, "revoked");
}

void Gate::State::forward(CallId id, const Permission& permission, Json arguments,
                          const Reservation& reservation, CallContext party) {
  const auto now = setup.clock->steady_now();
  auto& entry = pending.emplace(id, Pending{permission, std::move(party.done), 0, now, reservation})
                    .first->second;
  auto answered = [weak = weak_from_this(), id, name = permission.text()](Result<Json> result) {
    const auto self = weak.lock();
    if (!self) return;
    if (result) {
      self->finish(id, std::move(*result));
    } else {
      self->finish(id, std::unexpected(self->failure_of(id, result.error(), name)));
    }
  };
  // References into an unordered_map survive insertions, but forward() never calls back anyway.
  entry.token = setup.upstream->forward(permission, std::move(arguments), std::move(party.caller),
                                        std::move(answered));
}

CallError Gate::State::failure_of(CallId id, const Error& error, std::string_view name) const {
  const auto call = pending.find(id);
  auto refusal =
      call == pending.end() ? std::nullopt : setup.upstream->refusal_of(call->second.token);
  if (!refusal) return from_server(error, name);
  // What the one behind calls declared is not this program's business.
  if (refusal->data.contains("declared")) refusal->data["declared"] = setup.declared.texts;
  return std::move(*refusal);
}

std::optional<std::size_t> Gate::State::settle(const Reservation& reservation, Answer& answer) {
  if (reservation.id == 0) return std::nullopt;
  const std::size_t bytes = answer && reservation.counts_result ? to_text(*answer).size() : 0;
  if (!setup.authority.settle(reservation.id, bytes)) {
    answer = std::unexpected(
        budget("the result is larger than what 'bytes in' leaves of it", Sent::kDone));
  }
  return reservation.counts_result ? std::optional(bytes) : std::nullopt;
}

void Gate::State::finish(CallId id, Answer answer) {
  auto node = pending.extract(id);
  if (node.empty()) return;  // cancelled or revoked: answered already
  const Pending& call = node.mapped();
  const auto charged = settle(call.reservation, answer);
  std::string_view outcome = "result";
  std::optional<std::size_t> bytes;
  if (!answer) {
    outcome = to_string(answer.error().kind);
  } else {
    const Json* is_error = find_member(*answer, "isError");
    if (is_error != nullptr && is_error->is_boolean() && is_error->get<bool>())
      outcome = "tool_error";
    bytes = text_bytes(*answer);
  }
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      setup.clock->steady_now() - call.started);
  // The call has happened: a log that fails now does not unmake it. The next check will refuse.
  std::ignore = setup.audit->append_text(
      "CallFinished", finished_payload(id, outcome, took.count(), bytes, charged));
  if (!closed) count(call.permission, answer, outcome);
  call.done(std::move(answer));
}

void Gate::State::count(const Permission& permission, const Answer& answer,
                        std::string_view outcome) {
  EndedCalls& calls = ended_calls[permission.text()];
  ++calls.calls;
  if (outcome != "result") ++calls.failed;
  if (!answer && sent_of(answer.error()) == Sent::kMaybeDone) ++calls.unknown;
}

void Gate::State::shut() {
  if (closed) return;
  unanswered = calls_in_flight();
  // What waits for a person has not begun.
  for (const auto& [id, call] : waiting)
    unanswered.push_back({id, call.permission.text(), std::chrono::milliseconds(0), Sent::kNo});
  closed = true;
}

void Gate::State::abandon(CallId id, const std::function<CallError(Sent)>& error) {
  const auto found = pending.find(id);
  if (found == pending.end()) return;
  const Upstream::CallToken token = found->second.token;
  const auto keep = shared_from_this();
  const Sent sent = setup.upstream->was_sent(token) ? Sent::kMaybeDone : Sent::kNo;
  // Answered before the server is told, so that its own last word finds no waiter.
  finish(id, std::unexpected(error(sent)));
  setup.upstream->cancel(token);
}

void Gate::State::abandon_if(const std::function<bool(const Permission&)>& matches,
                             std::string_view outcome) {
  if (network && means_network(matches)) network->close_all(outcome);
  std::vector<CallId> questions;
  for (const auto& [id, call] : waiting) {
    if (matches(call.permission)) questions.push_back(id);
  }
  take_back(questions,
            [](const Waiting& call) { return revoked(call.permission.text(), Sent::kNo); });
  std::vector<CallId> ids;
  for (const auto& [id, call] : pending) {
    if (matches(call.permission)) ids.push_back(id);
  }
  std::ranges::sort(ids);
  for (const CallId id : ids) {
    const auto found = pending.find(id);
    if (found == pending.end()) continue;
    abandon(id,
            [name = found->second.permission.text()](Sent sent) { return revoked(name, sent); });
  }
}

// Recorded before it is carried out, so that no record of an allowed call follows this one. A log
// that cannot be written does not keep authority alive.
Revocation Gate::State::revoke_if(const std::function<bool(const Permission&)>& matches,
                                  std::string name) {
  const auto is_meant = [&](const auto& call) { return matches(call.second.permission); };
  const Revocation ended{
      .calls = static_cast<std::size_t>(std::ranges::count_if(pending, is_meant)),
      .questions = static_cast<std::size_t>(std::ranges::count_if(waiting, is_meant)),
      .connections = network && means_network(matches) ? network->open() : 0};
  std::ignore = setup.audit->append("Revoked", {{"permission", std::move(name)},
                                                {"cancelled_calls", ended.calls},
                                                {"cancelled_questions", ended.questions},
                                                {"closed_connections", ended.connections}});
  abandon_if(matches, "revoked");
  return ended;
}

Gate::Gate(GateSetup setup) : state_(std::make_shared<State>(std::move(setup))) {}

Gate::~Gate() {
  state_->everything_revoked = true;
  state_->closed = true;
  state_->asking.stop();
  state_->network.reset();
  for (auto& [id, call] : std::exchange(state_->pending, {})) {
    state_->setup.upstream->cancel(call.token);
  }
}

Gate::CallId Gate::call(CallRequest request, Done done) {
  return state_->call(std::move(request), std::move(done));
}

void Gate::cancel(CallId id) {
  state_->take_back({id}, [](const Waiting&) { return cancelled(Sent::kNo); });
  state_->abandon(id, cancelled);
  state_->network->cancel(id);
}

bool Gate::was_sent(CallId id) const {
  const auto call = state_->pending.find(id);
  if (call != state_->pending.end()) return state_->setup.upstream->was_sent(call->second.token);
  return !state_->waiting.contains(id);
}

Gate::CallId Gate::connect(const ConnectRequest& request, ConnectDone done) {
  return state_->connect(request, std::move(done));
}

Revocation Gate::revoke(const Permission& permission) {
  state_->revoked_permissions.insert(permission);
  return state_->revoke_if([&](const Permission& held) { return held == permission; },
                           permission.text());
}

Revocation Gate::revoke_all() {
  state_->everything_revoked = true;
  return state_->revoke_if([](const Permission&) { return true; }, "*");
}

void Gate::close() {
  state_->shut();
  state_->everything_revoked = true;
  state_->abandon_if([](const Permission&) { return true; }, "run-ended");
}

const std::vector<GateStatus::Call>& Gate::unanswered() const {
  return state_->unanswered;
}

const std::map<std::string, EndedCalls>& Gate::ended() const {
  return state_->ended_calls;
}

std::size_t Gate::in_flight() const {
  return state_->pending.size() + state_->waiting.size();
}

bool Gate::is_cut_off() const {
  return state_->closed || state_->everything_revoked;
}

const Declared& Gate::declared() const {
  return state_->setup.declared;
}

const policy::Authority& Gate::authority() const {
  return state_->setup.authority;
}

std::vector<GateStatus::Call> Gate::State::calls_in_flight() const {
  const auto now = setup.clock->steady_now();
  std::vector<GateStatus::Call> calls;
  for (const auto& [id, call] : pending) {
    calls.push_back({id, call.permission.text(),
                     std::chrono::duration_cast<std::chrono::milliseconds>(now - call.started),
                     setup.upstream->was_sent(call.token) ? Sent::kMaybeDone : Sent::kNo});
  }
  std::ranges::sort(calls, {}, &GateStatus::Call::id);
  return calls;
}

GateStatus Gate::status() const {
  return {.allowed = state_->allowed,
          .denied = state_->denied_calls,
          .in_flight = state_->calls_in_flight(),
          .question = state_->asking.current(),
          .questions_waiting = state_->asking.waiting(),
          .connections = state_->network->open(),
          .revoked = state_->revoked_permissions,
          .everything_revoked = state_->everything_revoked,
          .meters = state_->setup.authority.meters()};
}

namespace {

// Beside arguments and paths a record has texts of ours, of bounded length, and rules of the user.
constexpr std::size_t kRecordBeside = std::size_t{32} << 10U;
static_assert(kMaxRecordedArguments + policy::kMaxPathFactBytes + kRecordBeside <=
              audit::kMaxEventBytes);

// More kinds of denials than a user is shown of one run (history/records/denials.h).
constexpr std::size_t kMostExplained = 16;

}  // namespace

std::optional<CallError> Gate::State::judge(const LockedTool& tool, const Permission& permission,
                                            Json& arguments, Check& check,
                                            Reservation& reservation) {
  if (auto error = still_callable(permission, check)) return error;
  if (!arguments.is_object()) {
    check.decided_by = DecidedBy::kNotObject;
    check.reason = "the arguments are not an object";
    return invalid_arguments({"", "type", "must be an object"}, arguments);
  }
  const auto violation = setup.authority.complete(permission, *tool.input, arguments);
  auto unkept = keep(tool, permission, arguments, check);
  if (violation) {
    check.decided_by = DecidedBy::kSchema;
    check.rule = violation->keyword;
    check.layer = "lock";
    check.reason = violation->pointer + " " + violation->message;
    return invalid_arguments(*violation, arguments);
  }
  if (unkept) return unkept;
  return decide(permission, arguments, check, reservation);
}

std::optional<CallError> Gate::State::still_callable(const Permission& permission,
                                                     Check& check) const {
  if (closed || is_revoked(permission)) {
    check.decided_by = DecidedBy::kRevoked;
    check.reason = "revoked";
    return revoked(check.capability);
  }
  if (setup.upstream->quarantines(permission)) {
    check.decided_by = DecidedBy::kDrift;
    check.layer = "lock";
    check.reason = "the server changed this tool; it is not the one that was approved";
    return drifted(check.capability);
  }
  return std::nullopt;
}

std::optional<CallError> Gate::State::keep(const LockedTool& tool, const Permission& permission,
                                           const Json& arguments, Check& check) const {
  Json clean;
  const auto secrecy = setup.upstream->redact(permission, arguments, clean);
  check.redacted = secrecy == Upstream::Secrecy::kRedacted;
  if (tool.secret_places != nullptr) {
    if (!check.redacted) clean = arguments;
    check.redacted = tool.secret_places->redact(clean) || check.redacted;
  }
  const Json& kept = check.redacted ? clean : arguments;
  check.targets = targets_of(kept);
  if (check.level == policy::AuditLevel::kMeta) return std::nullopt;
  const std::string text = to_text(kept);
  check.arguments_digest = setup.audit->keyed_digest(text);
  if (check.level != policy::AuditLevel::kArgs) return std::nullopt;
  // What may hold a secret not known yet is not written down, nor what was taken out whole.
  if (secrecy == Upstream::Secrecy::kUnknown || !kept.is_object()) return std::nullopt;
  if (text.size() <= kMaxRecordedArguments) {
    check.arguments = kept;
    return std::nullopt;
  }
  check.decided_by = DecidedBy::kTooLarge;
  check.reason =
      "a rule wants the arguments recorded, and they are larger than a record: send less in a call";
  return denied(check.capability, check.reason, setup.declared.texts);
}

std::optional<CallError> Gate::State::decide(const Permission& permission, const Json& arguments,
                                             Check& check, Reservation& reservation) {
  const bool is_declared = setup.declared.permissions.contains(permission);
  if (!is_declared) {
    check.decided_by = DecidedBy::kDeclared;
    check.layer = "declared";
    check.reason = "the program does not declare it";
    if (setup.mode == Mode::kEnforce)
      return denied(check.capability, check.reason, setup.declared.texts);
  } else {
    check.decided_by = DecidedBy::kPolicy;
  }
  policy::Decision decision =
      setup.authority.decide(permission, arguments, {}, check.evidence, lifted());
  const bool is_admitted = decision.effect == policy::Effect::kAllow || decision.lifted;
  if (!is_declared) {
    check.evidence = {};
    check.would_deny = is_admitted;
    reservation = {decision.reservation, decision.counts_result};
    if (is_admitted) return std::nullopt;
    return denied(check.capability, check.reason, setup.declared.texts);
  }
  note(decision, check, reservation);
  check.asks = std::move(decision.asks);
  if (is_admitted) return std::nullopt;
  return denied(check.capability, check.reason, setup.declared.texts);
}

void Gate::State::note(policy::Decision& decision, Check& check, Reservation& reservation) {
  reservation = {decision.reservation, decision.counts_result};
  check.rule = std::move(decision.rule);
  check.layer = std::move(decision.layer);
  check.place = std::move(decision.place);
  check.reason = std::move(decision.reason);
  check.other_rules = decision.other_rules;
  check.would_deny = decision.lifted;
  check.used_up = decision.used_up;
  check.ended = decision.ended;
  if (decision.effect != policy::Effect::kAllow && check.reason.empty())
    check.reason = "not granted";
  if (!decision.too_large) return;
  check.decided_by = DecidedBy::kTooLarge;
  check.arguments.reset();
}

// Where a path leads is asked of the disk once more, and all rules are gone through for it and for
// what would admit the call. So each
// kind of denial is explained once, and of a program that invents kinds only the first: what comes
// after them is counted, and not read.
void Gate::State::explain_denial(const Permission& permission, const Json& arguments,
                                 Check& check) {
  if (!setup.on_denied || check.decided_by != DecidedBy::kPolicy) return;
  if (explained.size() >= kMostExplained) return;
  std::string kind = permission.text();
  for (const auto& part : {check.rule, check.layer, check.reason})
    kind.append(1, '\n').append(part);
  if (!explained.insert(std::move(kind)).second) return;
  auto found = setup.authority.explain(permission, arguments);
  check.taken_for = found.decision.remark.empty() ? policy::taken_for(permission, found)
                                                  : std::move(found.decision.remark);
  // Of a layer that refuses it with permission checks off: what explains it names another.
  if (found.decision.layer != check.layer) return;
  check.would_grant = std::move(found.decision.would_grant);
  check.no_grant = std::move(found.decision.no_grant);
}

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

namespace {

// As revocations name it; the text is ours, and well formed.
const Permission& network_permission() {
  static const Permission permission = Permission::parse(policy::kNetworkPermission).value();
  return permission;
}

}  // namespace

bool Gate::State::means_network(const std::function<bool(const Permission&)>& matches) {
  return matches(network_permission());
}

NetworkSetup Gate::State::network_setup() {
  return {.authority = &setup.authority,
          .dialer = setup.dialer,
          .audit = setup.audit,
          .clock = setup.clock,
          .declared = &setup.declared.texts,
          .limits = setup.network,
          .on_denied = setup.on_denied,
          .on_refused = [this] { count_refusal(); }};
}

Gate::CallId Gate::State::connect(const ConnectRequest& request, ConnectDone done) {
  const CallId id = ++last_id;
  const auto keep = shared_from_this();
  if (closed || is_revoked(network_permission())) {
    // What was taken back is refused as often as it is asked for; the end of it is count_refusal().
    if (!closed) count_refusal();
    done(std::unexpected(revoked(policy::kNetworkPermission)));
    return id;
  }
  network->connect(id, request, std::move(done));
  return id;
}

const LockedTool* Gate::State::standing_tool(const Permission& permission) const {
  const auto tool = setup.tools->find(permission);
  const bool stands = tool != setup.tools->end() && tool->second.input != nullptr && !closed &&
                      !is_revoked(permission) && !setup.upstream->quarantines(permission) &&
                      setup.declared.permissions.contains(permission);
  return stands ? &tool->second : nullptr;
}

bool Gate::stands(const Permission& permission) const {
  return state_->standing_tool(permission) != nullptr;
}

bool Gate::could_allow(const Permission& permission, const policy::CallInSource& call,
                       Work& work) const {
  const LockedTool* tool = state_->standing_tool(permission);
  if (tool == nullptr) return false;
  policy::CallInSource made = call;
  // What is all known is looked at as it would be sent.
  const bool is_whole = made.unknown.empty() && !made.open;
  if (is_whole && state_->setup.authority.complete(permission, *tool->input, made.known))
    return false;
  return state_->setup.authority.outlook(permission, made, work) != policy::Outlook::kDenied;
}

bool Gate::could_allow(const Permission& permission, std::string_view where, Work& work) const {
  return stands(permission) &&
         state_->setup.authority.coverage(permission, where, work) != policy::Coverage::kMissing;
}

bool Gate::allows_now(const Permission& permission, Json arguments) const {
  const LockedTool* tool = state_->standing_tool(permission);
  if (tool == nullptr) return false;
  const auto& authority = state_->setup.authority;
  if (authority.complete(permission, *tool->input, arguments)) return false;
  return authority.explain(permission, arguments).decision.effect == policy::Effect::kAllow;
}

std::optional<Json> Gate::as_sent(const Permission& permission, Json arguments) const {
  const LockedTool* tool = state_->standing_tool(permission);
  if (tool == nullptr || state_->setup.authority.complete(permission, *tool->input, arguments))
    return std::nullopt;
  return arguments;
}

}  // namespace mcpac::gate
