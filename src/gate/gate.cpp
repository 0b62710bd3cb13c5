#include "gate/gate.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gate/gate_state.h"
#include "gate/result_line.h"

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

}  // namespace mcpac::gate
