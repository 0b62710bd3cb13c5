#include "gate/gate.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/hash.h"
#include "core/ids.h"
#include "gate/result_line.h"

namespace mcpac::gate {
namespace {

// One text for every call that fails for the log's sake (the runtime headers print it as it
// stands).
constexpr const char* kNotRecorded = "audit log cannot be written";

// What is left of a call that waits for its server.
struct Pending {
  Permission permission;
  Gate::Done done;
  Upstream::CallToken token = 0;
  std::chrono::steady_clock::time_point started;
};

}  // namespace

struct Gate::State : std::enable_shared_from_this<Gate::State> {
  explicit State(GateSetup given) : setup(std::move(given)) {}

  CallId call(CallRequest request, Done done);
  // Everything before the upstream: an error refuses the call, `check` collects what is recorded.
  std::optional<CallError> judge(const LockedTool& tool, const Permission& permission,
                                 Json& arguments, Check& check);
  std::optional<CallError> decide(const Permission& permission, const Json& arguments,
                                  Check& check);
  [[nodiscard]] bool record(const Check& check) const;
  CallId refuse(const Check& check, CallError error, const Done& done);
  void forward(CallId id, const Permission& permission, Json arguments, Done done);
  void finish(CallId id, Answer answer);
  // Ends a call that the server still works on.
  void abandon(CallId id, CallError error);
  void abandon_if(const std::function<bool(const Permission&)>& matches);
  [[nodiscard]] bool is_revoked(const Permission& permission) const {
    return everything_revoked || revoked_permissions.contains(permission);
  }

  GateSetup setup;
  std::unordered_map<CallId, Pending> pending;
  std::set<Permission> revoked_permissions;
  CallId last_id = 0;
  std::size_t refusals = 0;
  bool everything_revoked = false;
  bool closed = false;
};

Gate::CallId Gate::State::call(CallRequest request, Done done) {
  const CallId id = ++last_id;
  if (closed) {
    done(std::unexpected(revoked(request.permission)));
    return id;
  }
  Check check;
  check.call_id = id;
  check.capability = request.permission;
  const auto permission = Permission::parse(request.permission);
  const auto tool = permission ? setup.tools->find(*permission) : setup.tools->end();
  if (tool == setup.tools->end() || tool->second.input == nullptr) {
    check.reason = "the lock has no such tool";
    return refuse(check, unknown_tool(request.permission), done);
  }
  check.tool_digest = tool->second.digest;
  if (auto error = judge(tool->second, *permission, request.arguments, check)) {
    return refuse(check, std::move(*error), done);
  }
  check.allowed = true;
  if (!record(check)) {
    if (!check.would_deny) setup.authority.give_back(*permission, request.arguments);
    done(std::unexpected(internal(kNotRecorded)));
    return id;
  }
  forward(id, *permission, std::move(request.arguments), std::move(done));
  return id;
}

std::optional<CallError> Gate::State::judge(const LockedTool& tool, const Permission& permission,
                                            Json& arguments, Check& check) {
  if (is_revoked(permission)) {
    check.reason = "revoked";
    return revoked(check.capability);
  }
  if (setup.upstream->quarantines(permission)) {
    check.layer = "lock";
    check.reason = "the server changed this tool; it is not the one that was approved";
    return drifted(check.capability);
  }
  if (!arguments.is_object()) {
    check.reason = "the arguments are not an object";
    return invalid_arguments({"", "type", "must be an object"});
  }
  tool.input->fill_defaults(arguments);
  check.arguments_digest = sha256_hex(to_text(arguments));
  check.target = target_of(arguments);
  if (const auto violation = tool.input->validate(arguments)) {
    check.rule = violation->keyword;
    check.layer = "lock";
    check.reason = violation->pointer + " " + violation->message;
    return invalid_arguments(*violation);
  }
  auto error = decide(permission, arguments, check);
  if (error && setup.mode == Mode::kObserve) {
    check.would_deny = true;
    return std::nullopt;
  }
  return error;
}

std::optional<CallError> Gate::State::decide(const Permission& permission, const Json& arguments,
                                             Check& check) {
  if (!setup.declared.permissions.contains(permission)) {
    check.layer = "declared";
    check.reason = "the program does not declare it";
    return denied(check.capability, check.reason, setup.declared.texts);
  }
  policy::Decision decision = setup.authority.decide(permission, arguments);
  check.rule = std::move(decision.rule);
  check.layer = std::move(decision.layer);
  check.reason = std::move(decision.reason);
  check.other_rules = decision.other_rules;
  check.would_grant = std::move(decision.would_grant);
  if (decision.effect == policy::Effect::kAllow) return std::nullopt;
  if (check.reason.empty()) {
    check.reason = decision.effect == policy::Effect::kAsk
                       ? "it needs an approval, and nobody is there to ask"
                       : "not granted";
  }
  return denied(check.capability, check.reason, setup.declared.texts);
}

bool Gate::State::record(const Check& check) const {
  return setup.audit
      ->append("CapabilityCheck", check_payload(check, new_uuid_v7(*setup.clock), setup.mode))
      .has_value();
}

// A refusal that cannot be recorded stays a refusal; the program hears of the log instead, since no
// later call will go through either.
Gate::CallId Gate::State::refuse(const Check& check, CallError error, const Done& done) {
  const CallId id = check.call_id;
  if (!record(check)) error = internal(kNotRecorded);
  if (setup.on_denied && error.kind == ErrorKind::kDenied) setup.on_denied(check);
  if (++refusals >= setup.max_refusals) {
    std::ignore =
        setup.audit->append("Anomaly", {{"what", "too many refused calls: authority revoked"}});
    closed = true;
    abandon_if([](const Permission&) { return true; });
  }
  done(std::unexpected(std::move(error)));
  return id;
}

void Gate::State::forward(CallId id, const Permission& permission, Json arguments, Done done) {
  const auto now = setup.clock->steady_now();
  auto& entry = pending.emplace(id, Pending{permission, std::move(done), 0, now}).first->second;
  auto answered = [weak = weak_from_this(), id, name = permission.text()](Result<Json> result) {
    const auto self = weak.lock();
    if (!self) return;
    if (result) {
      self->finish(id, std::move(*result));
    } else {
      self->finish(id, std::unexpected(from_server(result.error(), name)));
    }
  };
  // References into an unordered_map survive insertions, but forward() never calls back anyway.
  entry.token = setup.upstream->forward(permission, std::move(arguments), std::move(answered));
}

void Gate::State::finish(CallId id, Answer answer) {
  auto node = pending.extract(id);
  if (node.empty()) return;  // cancelled or revoked: answered already
  const Pending& call = node.mapped();
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
  std::ignore =
      setup.audit->append("CallFinished", finished_payload(id, outcome, took.count(), bytes));
  call.done(std::move(answer));
}

void Gate::State::abandon(CallId id, CallError error) {
  const auto found = pending.find(id);
  if (found == pending.end()) return;
  const Upstream::CallToken token = found->second.token;
  const auto keep = shared_from_this();
  // Answered before the server is told, so that its own last word finds nobody waiting.
  finish(id, std::unexpected(std::move(error)));
  setup.upstream->cancel(token);
}

void Gate::State::abandon_if(const std::function<bool(const Permission&)>& matches) {
  std::vector<CallId> ids;
  for (const auto& [id, call] : pending) {
    if (matches(call.permission)) ids.push_back(id);
  }
  std::ranges::sort(ids);
  for (const CallId id : ids) {
    const auto found = pending.find(id);
    if (found != pending.end()) abandon(id, revoked(found->second.permission.text()));
  }
}

Gate::Gate(GateSetup setup) : state_(std::make_shared<State>(std::move(setup))) {}

Gate::~Gate() {
  state_->everything_revoked = true;
  state_->closed = true;
  for (auto& [id, call] : std::exchange(state_->pending, {})) {
    state_->setup.upstream->cancel(call.token);
  }
}

Gate::CallId Gate::call(CallRequest request, Done done) {
  return state_->call(std::move(request), std::move(done));
}

void Gate::cancel(CallId id) {
  state_->abandon(id, cancelled());
}

void Gate::revoke(const Permission& permission) {
  state_->revoked_permissions.insert(permission);
  state_->abandon_if([&](const Permission& held) { return held == permission; });
}

void Gate::revoke_all() {
  state_->everything_revoked = true;
  state_->abandon_if([](const Permission&) { return true; });
}

void Gate::close() {
  state_->closed = true;
  revoke_all();
}

std::size_t Gate::in_flight() const {
  return state_->pending.size();
}

}  // namespace mcpac::gate
