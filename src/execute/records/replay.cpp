#include "execute/records/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/rfc3339.h"
#include "execute/host/tool_tables.h"
#include "execute/records/recorded_check.h"
#include "execute/records/replay_connections.h"
#include "gate/answer.h"
#include "gate/approver.h"
#include "policy/policy_digest.h"
#include "policy/policy_record.h"
#include "policy/text/printer.h"

namespace mcpac::execute {
namespace {

using gate::DecidedBy;

constexpr std::size_t kRecordedText = 1024;  // as gate/record.cpp bounds a rule

// Shows the times of a record.
class RecordedClock final : public Clock {
 public:
  void set(const policy::Evidence& evidence) {
    run_time_ = evidence.run_time;
    wall_ = evidence.wall;
  }
  [[nodiscard]] std::chrono::steady_clock::time_point steady_now() const override {
    return std::chrono::steady_clock::time_point(run_time_);
  }
  [[nodiscard]] std::chrono::system_clock::time_point wall_now() const override {
    return std::chrono::system_clock::time_point(wall_);
  }

 private:
  std::chrono::nanoseconds run_time_{0};
  std::chrono::microseconds wall_{0};
};

struct Approved {
  bool yes = false;
  bool once = false;
  std::string until;
  std::set<policy::AskRule> rules;
  bool used = false;
};

std::set<policy::AskRule> rules_of(const Json& payload) {
  std::set<policy::AskRule> rules;
  const Json* list = find_member(payload, "rules");
  if (list == nullptr || !list->is_array()) return rules;
  for (const Json& rule : *list)
    rules.insert({string_member(rule, "layer"), string_member(rule, "rule")});
  return rules;
}

// The whole of what a run was decided with.
struct Subject {
  codegen::Lock lock;
  policy::ToolSchemas schemas;
  CompiledTools tools;
  std::set<Permission> declared;
  std::vector<policy::PathFact> loaded_paths;
  std::optional<policy::Authority> authority;
  bool observes = false;
};

class Replayer {
 public:
  explicit Replayer(const LockOf& lock_of) : lock_of_(lock_of) {}

  Result<void> event(const audit::Event& event) {
    id_ = event.event_id;
    if (event.kind == "RunStarted") return start(event.payload);
    if (event.kind == "Revoked") revoked_.insert(string_member(event.payload, "permission"));
    if (event.kind == "Anomaly" && string_member(event.payload, "what").starts_with("too many"))
      revoked_.insert("*");
    if (event.kind == "Approval") approval(event);
    if (event.kind == "CallFinished") finished(event.payload);
    if (event.kind == "CapabilityCheck") return check(event.payload);
    if (event.kind == "NetworkCheck") return connection(event.payload);
    if (event.kind == "ConnectionEnded" && connections_) {
      for (auto& what : connections_->ended(event.payload)) differ(std::move(what));
    }
    return {};
  }
  RunReplay take() { return std::move(replay_); }

 private:
  Result<void> start(const Json& payload);
  Result<void> load(const Json& policy, const Json& payload);
  Result<void> check(const Json& payload);
  Result<void> connection(const Json& payload);
  void given_places(const Json& payload);
  void approval(const audit::Event& event);
  void finished(const Json& payload);
  void hold_against_run(const RecordedCheck& check, const Permission& permission);
  void decide(const RecordedCheck& check, const Permission& permission);
  void take_over(const RecordedCheck& check, std::string why);
  void policy_decision(const RecordedCheck& check, const Permission& permission,
                       const Json& arguments);
  void asked_decision(const RecordedCheck& check, const Permission& permission,
                      const Json& arguments);
  void schema_decision(const RecordedCheck& check, const Permission& permission);
  void compare(const RecordedCheck& check, const policy::Evidence& now);
  void approved(const RecordedCheck& check);
  // What is decided on: as recorded, or {} where the arguments make no difference.
  [[nodiscard]] std::optional<Json> arguments_of(const RecordedCheck& check,
                                                 const Permission& permission) const;
  [[nodiscard]] bool is_revoked(const Permission& permission) const {
    return revoked_.contains("*") || revoked_.contains(permission.text());
  }

  void differ(std::string what) {
    if (replay_.differences.size() < kMaxDifferences) {
      replay_.differences.push_back({id_, std::move(what)});
    } else {
      ++replay_.further_differences;
    }
  }
  void leave_out(std::string why) { ++replay_.not_recomputed[std::move(why)]; }

  const LockOf& lock_of_;
  RunReplay replay_;
  std::string id_;  // of the event that is looked at
  RecordedClock clock_;
  policy::RecordedPaths paths_;
  std::unique_ptr<Subject> run_;
  std::set<std::string> revoked_;
  std::set<std::string> drifted_;
  std::map<std::string, Approved> approvals_;
  std::map<std::uint64_t, std::uint64_t> reservations_;  // of calls in flight
  std::optional<ConnectionReplay> connections_;          // of the authority of run_
};

Result<void> Replayer::start(const Json& payload) {
  const Json* policy = find_member(payload, "policy");
  if (policy == nullptr) return {};  // an older mcpac: its checks say so, one by one
  if (run_) {
    differ("the run begins twice");
    return {};
  }
  if (policy::digest_of_record(*policy) != string_member(payload, "policy_digest"))
    differ("the policy is not the one whose digest was recorded");
  return load(*policy, payload);
}

Result<void> Replayer::load(const Json& policy, const Json& payload) {
  auto recorded = policy::read_policy_record(policy);
  if (!recorded) return pass_on(recorded);
  const Json* binding = find_member(payload, "binding");
  if (binding == nullptr) return fail(ErrorId::kAuditUnreadable, "the run is bound to nothing");
  auto lock = lock_of_(string_member(*binding, "lock"));
  if (!lock) return pass_on(lock);
  auto run = std::make_unique<Subject>();
  run->lock = std::move(*lock);
  run->schemas = tool_schemas(run->lock);
  std::set<std::string> servers;
  if (const Json* list = find_member(payload, "permissions"); list != nullptr && list->is_array()) {
    for (const Json& name : *list) {
      auto permission = Permission::parse(name.is_string() ? name.get<std::string>() : "");
      if (!permission) continue;
      servers.insert(permission->server());
      run->declared.insert(std::move(*permission));
    }
  }
  run->tools = compile_tools(run->lock, servers);
  // A client of the gateway; a program that names one in its note is told of no such tool.
  if (string_member(payload, "declared_in") == "grants")
    add_offers(run->declared, run->lock, run->tools.table);
  run->observes = string_member(payload, "mode") == "observe";
  run->loaded_paths = recorded->paths;
  paths_.set(recorded->paths);
  policy::Environment environment;
  environment.tools = &run->schemas;
  environment.resolver = &paths_;
  environment.clock = &clock_;
  environment.bases = std::move(recorded->bases);
  environment.prices = std::move(recorded->prices);
  auto authority = policy::Authority::load(recorded->layers, environment);
  if (!authority) {
    differ("the policy does not load any more: " + authority.error().what);
    return {};
  }
  if (policy::policy_digest(*authority) != string_member(*binding, "policy"))
    differ("the policy is not the one that the run was bound to");
  run->authority = std::move(*authority);
  run_ = std::move(run);
  connections_.emplace(*run_->authority, policy);
  given_places(payload);
  return {};
}

// The places that the run is said to have been given are those that its rules admit. An older
// record, without any, had none.
void Replayer::given_places(const Json& payload) {
  Json files = Json::array();
  for (const auto& place : run_->authority->files())
    files.push_back({{"path", place.path}, {"mode", policy::to_string(place.mode)}});
  Json network = Json::array();
  for (const auto& place : run_->authority->networks())
    network.push_back({{"place", policy::print_network(place.host, place.port)}});
  for (const auto& [name, now] : {std::pair("files", &files), std::pair("network", &network)}) {
    const Json* recorded = find_member(payload, name);
    Json then = recorded == nullptr ? Json::array() : *recorded;
    for (Json& place : then) {
      if (place.is_object()) place.erase("said_in");
    }
    if (then != *now) differ(fmt::format("its {} are not those that its rules give", name));
  }
}

Result<void> Replayer::connection(const Json& payload) {
  ++replay_.decisions;
  auto read = read_connection(payload);
  if (!read) return pass_on(read);
  if (!connections_) {
    leave_out("an older mcpac recorded it, or the run does not begin with its policy");
    return {};
  }
  static const Permission kNetwork = Permission::parse(policy::kNetworkPermission).value();
  using Revoked = ConnectionReplay::Revoked;
  auto answer = connections_->check(*read, is_revoked(kNetwork) ? Revoked::kYes : Revoked::kNo);
  if (answer.left_out.empty()) {
    ++replay_.recomputed;
  } else {
    leave_out(std::move(answer.left_out));
  }
  for (auto& what : answer.differences) differ(std::move(what));
  return {};
}

void Replayer::approval(const audit::Event& event) {
  const auto answer = gate::answered_from(string_member(event.payload, "answer"));
  approvals_[event.event_id] = {.yes = answer && gate::is_yes(*answer),
                                .once = answer == gate::Answered::kOnce,
                                .until = string_member(event.payload, "until"),
                                .rules = rules_of(event.payload)};
}

void Replayer::finished(const Json& payload) {
  const Json* call = find_member(payload, "call_id");
  if (!run_ || call == nullptr || !call->is_number_unsigned()) return;
  const auto held = reservations_.extract(call->get<std::uint64_t>());
  if (held.empty()) return;
  const Json* charged = find_member(payload, "charged_bytes");
  const std::uint64_t bytes =
      charged != nullptr && charged->is_number_unsigned() ? charged->get<std::uint64_t>() : 0;
  const bool delivered = run_->authority->settle(held.mapped(), bytes);
  if (bytes > 0 && delivered == (string_member(payload, "outcome") == "budget"))
    differ(delivered ? "a result was held back that fits into 'bytes in'"
                     : "a result was delivered that does not fit into 'bytes in'");
}

Result<void> Replayer::check(const Json& payload) {
  ++replay_.decisions;
  auto read = read_check(payload);
  if (!read) return pass_on(read);
  if (!*read || !run_) {
    leave_out("an older mcpac recorded it, or the run does not begin with its policy");
    return {};
  }
  const RecordedCheck& check = **read;
  const auto permission = Permission::parse(check.capability);
  const bool is_known = permission && run_->tools.table.contains(*permission);
  if (check.decided_by == DecidedBy::kNotOffered) {
    if (check.allowed) differ("what was not offered was allowed");
    ++replay_.recomputed;
    return {};
  }
  if (check.decided_by == DecidedBy::kUnknownTool || !is_known) {
    if (is_known || check.allowed || check.decided_by != DecidedBy::kUnknownTool) {
      differ(is_known ? "the lock has the tool" : "the lock has no such tool");
    }
    ++replay_.recomputed;
    return {};
  }
  if (check.tool_digest != run_->tools.table.at(*permission).digest)
    differ("it is about another definition of the tool than the lock's");
  if (check.level != policy::to_string(run_->authority->audit_level(*permission)))
    differ("the rules want the call recorded in another way");
  hold_against_run(check, *permission);
  decide(check, *permission);
  return {};
}

// What no allowed call may meet, whatever the rules say.
void Replayer::hold_against_run(const RecordedCheck& check, const Permission& permission) {
  if (!check.allowed) return;
  if (is_revoked(permission)) differ("it was allowed after its permission was taken back");
  if (drifted_.contains(check.capability)) differ("it was allowed after its tool had changed");
  if (check.would_deny && !run_->observes)
    differ("it was let through against the policy, and the run was not to be observed only");
  const bool may_allow = check.decided_by == DecidedBy::kPolicy ||
                         (check.would_deny && check.decided_by == DecidedBy::kDeclared);
  if (!may_allow) differ("it was allowed by a step that only refuses");
  if (!check.would_deny && !run_->declared.contains(permission))
    differ("it was allowed, and the program does not declare it");
}

void Replayer::decide(const RecordedCheck& check, const Permission& permission) {
  clock_.set(check.evidence);
  switch (check.decided_by) {
    case DecidedBy::kRevoked:
      ++replay_.recomputed;
      if (!is_revoked(permission)) differ("nothing had been taken back");
      return;
    case DecidedBy::kDeclared:
      ++replay_.recomputed;
      if (run_->declared.contains(permission)) differ("the program declares it");
      return;
    case DecidedBy::kDrift:
      drifted_.insert(check.capability);
      return leave_out("it rests on what a server did");
    case DecidedBy::kNotObject:
    case DecidedBy::kTooLarge:
      return leave_out("its arguments are no object, or too large to keep");
    case DecidedBy::kSchema: return schema_decision(check, permission);
    case DecidedBy::kPolicy:
    case DecidedBy::kApproval: break;
    case DecidedBy::kNotOffered:
    case DecidedBy::kUnknownTool: return;
  }
  auto facts = run_->loaded_paths;
  facts.insert(facts.end(), check.evidence.paths.begin(), check.evidence.paths.end());
  paths_.set(std::move(facts));
  if (check.decided_by == DecidedBy::kPolicy && !check.asks.empty()) approved(check);
  const auto arguments = arguments_of(check, permission);
  const bool is_asked = check.decided_by == DecidedBy::kApproval;
  // The check of a call that waited for an answer is of the time before.
  if (!is_asked && check.evidence.meters != run_->authority->meter_readings(permission))
    differ("the limits were used otherwise than the calls before it say");
  if (!arguments) {
    return take_over(check,
                     check.redacted
                         ? "secrets were taken out of its arguments"
                         : fmt::format("its arguments were not recorded (audit {})", check.level));
  }
  ++replay_.recomputed;
  if (is_asked) return asked_decision(check, permission, *arguments);
  policy_decision(check, permission, *arguments);
}

std::optional<Json> Replayer::arguments_of(const RecordedCheck& check,
                                           const Permission& permission) const {
  if (!run_->authority->weighs_arguments(permission)) return Json::object();
  if (check.redacted) return std::nullopt;
  return check.arguments;
}

// Not made again: but what it says must fit itself, and later calls are counted from it.
void Replayer::take_over(const RecordedCheck& check, std::string why) {
  leave_out(std::move(why));
  const bool all_allow = std::ranges::all_of(check.evidence.layers, [](const auto& layer) {
    return layer.effect == policy::Effect::kAllow;
  });
  const bool admitted = all_allow && !check.evidence.layers.empty();
  if (admitted != (check.allowed && !check.would_deny))
    differ("its answer is not that of the layers that it names");
  if (admitted) reservations_[check.call_id] = run_->authority->charge_again(check.evidence);
}

void Replayer::policy_decision(const RecordedCheck& check, const Permission& permission,
                               const Json& arguments) {
  if (check.arguments && !check.redacted) {
    Json completed = *check.arguments;
    const auto violation =
        run_->authority->complete(permission, *run_->tools.table.at(permission).input, completed);
    if (violation || completed != *check.arguments)
      differ("the locked schema refuses its arguments, or would have completed them");
  }
  policy::Evidence now;
  const auto decision = run_->authority->decide(permission, arguments, check.asks, now);
  const bool was_admitted = check.allowed && !check.would_deny;
  if (decision.allowed() != was_admitted) {
    differ(fmt::format("it was {}, and is {}", was_admitted ? "allowed" : "denied",
                       decision.allowed() ? "allowed" : "denied"));
    if (decision.allowed()) run_->authority->give_back(decision.reservation);
    if (was_admitted) reservations_[check.call_id] = run_->authority->charge_again(check.evidence);
    return;
  }
  if (decision.allowed()) reservations_[check.call_id] = decision.reservation;
  compare(check, now);
  if (gate::bounded(decision.rule, kRecordedText) != check.rule || decision.layer != check.layer)
    differ(fmt::format("it names the rule '{}' of {}, and it is '{}' of {}", check.rule,
                       check.layer, decision.rule, decision.layer));
}

void Replayer::asked_decision(const RecordedCheck& check, const Permission& permission,
                              const Json& arguments) {
  policy::Evidence now;
  const auto decision =
      run_->authority->decide_as_of(check.evidence.meters, permission, arguments, now);
  if (check.allowed) return;  // said already: no step but the policy allows
  if (decision.effect != policy::Effect::kAsk) differ("no rule asks about it");
  compare(check, now);
}

void Replayer::compare(const RecordedCheck& check, const policy::Evidence& now) {
  if (now.layers != check.evidence.layers) differ("its layers answer otherwise");
  if (paths_.missed_any()) differ("it asks the file system for a path that nobody asked for then");
}

void Replayer::schema_decision(const RecordedCheck& check, const Permission& permission) {
  if (!check.arguments || check.redacted)
    return leave_out(fmt::format("its arguments were not recorded (audit {})", check.level));
  ++replay_.recomputed;
  Json completed = *check.arguments;
  const auto violation =
      run_->authority->complete(permission, *run_->tools.table.at(permission).input, completed);
  if (!violation || violation->keyword != check.rule)
    differ("the locked schema does not refuse its arguments for that");
}

// Every rule that asks about it had its yes before, and a yes to one call was for one call.
void Replayer::approved(const RecordedCheck& check) {
  const auto found = approvals_.find(check.approval);
  if (found == approvals_.end() || !found->second.yes) return differ("nobody had said yes to it");
  if (found->second.once && std::exchange(found->second.used, true))
    differ("a yes to one call was used for several");
  const std::string now = rfc3339_utc(clock_.wall_now());
  std::set<policy::AskRule> answered = found->second.rules;
  for (const auto& [id, approval] : approvals_) {
    // Both texts are UTC of one length: they order as the times do.
    const bool holds =
        approval.yes && !approval.once && (approval.until.empty() || now < approval.until);
    if (holds) answered.insert(approval.rules.begin(), approval.rules.end());
  }
  for (const auto& rule : check.asks) {
    if (!answered.contains(rule)) differ("nobody had said yes to the rule '" + rule.rule + "'");
  }
}

}  // namespace

Result<RunReplay> replay_run(const std::vector<audit::Event>& events, const LockOf& lock_of) {
  Replayer replayer(lock_of);
  for (const auto& event : events) {
    if (auto done = replayer.event(event); !done) return pass_on(done);
  }
  RunReplay replay = replayer.take();
  if (!events.empty()) replay.run_id = events.front().run_id;
  return replay;
}

Json to_json(const RunReplay& replay) {
  Json differences = Json::array();
  for (const auto& difference : replay.differences)
    differences.push_back({{"event_id", difference.event_id}, {"what", difference.what}});
  return {{"run_id", replay.run_id},
          {"decisions", replay.decisions},
          {"recomputed", replay.recomputed},
          {"not_recomputed", replay.not_recomputed},
          {"differences", std::move(differences)},
          {"further_differences", replay.further_differences}};
}

}  // namespace mcpac::execute
