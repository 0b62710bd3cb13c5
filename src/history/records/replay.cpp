// SPDX-License-Identifier: Apache-2.0

#include "history/records/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "audit/log.h"
#include "core/rfc3339.h"
#include "gate/answer.h"
#include "gate/approver.h"
#include "gate/network_record.h"
#include "history/records/recorded_check.h"
#include "history/records/recorded_connection.h"
#include "history/records/replay_answer.h"
#include "history/records/replayed_run.h"
#include "history/records/run_files.h"
#include "policy/authority.h"
#include "policy/policy_record.h"

namespace mcpac::history {
namespace {

// The calls of a recorded run, decided again (replay.h).
//
// Limits and answers of people are counted along: what a call is decided with is what the calls
// before it left. Not thread-safe.
class CallReplay {
 public:
  // `run` is borrowed; its authority is there.
  explicit CallReplay(ReplayedRun& run) : run_(run) {}

  [[nodiscard]] ReplayAnswer check(const RecordedCheck& check, Revoked revoked);
  void approval(const audit::Event& event);
  // The payload of a CallFinished; what it differs in.
  [[nodiscard]] std::vector<std::string> finished(const Json& payload);

 private:
  struct Approved {
    bool yes = false;
    bool once = false;
    std::string until;
    std::set<policy::AskRule> rules;
    bool used = false;
  };

  void hold_against_run(const RecordedCheck& check, const Permission& permission, Revoked revoked);
  void decide(const RecordedCheck& check, const Permission& permission, Revoked revoked);
  void take_over(const RecordedCheck& check, std::string why);
  void policy_decision(const RecordedCheck& check, const Permission& permission,
                       const Json& arguments);
  void asked_decision(const RecordedCheck& check, const Permission& permission,
                      const Json& arguments);
  void excuse_older(std::size_t before);
  void schema_decision(const RecordedCheck& check, const Permission& permission);
  void compare(const RecordedCheck& check, const policy::Evidence& now);
  void approved(const RecordedCheck& check);
  // Arguments of the decision: as recorded, or {} where they make no difference.
  [[nodiscard]] std::optional<Json> arguments_of(const RecordedCheck& check,
                                                 const Permission& permission) const;
  void differ(std::string what) { answer_.differences.push_back(std::move(what)); }
  void leave_out(std::string why) { answer_.left_out = std::move(why); }

  ReplayedRun& run_;
  ReplayAnswer answer_;  // to the check that is looked at
  std::set<std::string> drifted_;
  std::map<std::string, Approved> approvals_;
  std::map<std::uint64_t, std::uint64_t> reservations_;  // of calls in flight
};

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

}  // namespace

namespace {

// The connections of a recorded run, decided again (replay.h).
//
// Each was decided by its name and once more for every address; the end of one must be at an
// address that was allowed. What name servers said is taken as recorded. Not thread-safe.
class ConnectionReplay {
 public:
  // `authority` is borrowed, loaded from `policy_record`, whose places say where they stood then.
  ConnectionReplay(const policy::Authority& authority, const Json& policy_record);

  [[nodiscard]] ReplayAnswer check(const RecordedConnection& check, Revoked revoked);
  // The payload of a ConnectionEnded.
  [[nodiscard]] std::vector<std::string> ended(const Json& payload);

 private:
  struct Open {
    std::string host;  // canonical
    std::uint16_t port = 0;
    std::vector<policy::IpAddress> allowed;
  };
  void by_name(const RecordedConnection& check, ReplayAnswer& answer);
  void by_address(const RecordedConnection& check, ReplayAnswer& answer);
  void compare(const RecordedConnection& check, const policy::NetworkAnswer& now,
               ReplayAnswer& answer) const;

  const policy::Authority& authority_;
  std::map<std::string, std::string> places_;  // of a statement: now → then
  std::map<std::uint64_t, Open> open_;         // allowed by name, not ended
};

const char* word_of(bool allowed) {
  return allowed ? "allowed" : "denied";
}

ConnectionReplay::ConnectionReplay(const policy::Authority& authority, const Json& policy_record)
    : authority_(authority) {
  const Json* recorded = find_member(policy_record, "layers");
  const auto now = authority.layers();
  for (std::size_t i = 0; recorded != nullptr && i < now.size() && i < recorded->size(); ++i) {
    const Json* places = find_member((*recorded)[i], "places");
    for (std::size_t j = 0; places != nullptr && j < now[i].places.size() && j < places->size();
         ++j)
      places_[now[i].places[j].place] = string_member((*places)[j], "place");
  }
}

ReplayAnswer ConnectionReplay::check(const RecordedConnection& check, Revoked revoked) {
  ReplayAnswer answer;
  if (check.allowed && revoked == Revoked::kYes)
    answer.differences.emplace_back("it was allowed after the network was taken back");
  if (check.address) {
    by_address(check, answer);
  } else {
    by_name(check, answer);
  }
  return answer;
}

void ConnectionReplay::by_name(const RecordedConnection& check, ReplayAnswer& answer) {
  if (open_.contains(check.connection))
    answer.differences.emplace_back("the connection was asked for before");
  // No host is so long: it was cut, and the rest is unknown.
  if (check.host.size() > gate::kRecordedName) {
    if (check.allowed) answer.differences.emplace_back("it was allowed, and its host is no host");
    answer.left_out = "its host was too long to keep";
    return;
  }
  const auto now = authority_.decide_network(check.host, check.port);
  const auto host = gate::canonical_host(check.host);
  if (check.allowed && host) open_[check.connection] = {*host, check.port, {}};
  if (now.allowed && !check.allowed && check.reason.starts_with(gate::kNoNetworkHere)) {
    answer.left_out = "there was no network where it ran";
    return;
  }
  compare(check, now, answer);
}

void ConnectionReplay::by_address(const RecordedConnection& check, ReplayAnswer& answer) {
  const auto open = open_.find(check.connection);
  const bool is_known = open != open_.end() && open->second.port == check.port &&
                        open->second.host == gate::canonical_host(check.host);
  if (!is_known) {
    answer.differences.emplace_back("nobody had allowed the host of this address by its name");
  } else if (check.allowed) {
    open->second.allowed.push_back(*check.address);
  }
  const auto now = authority_.decide_address(check.host, *check.address, check.port);
  if (now.allowed && !check.allowed &&
      check.reason.find(policy::kOwnAddress) != std::string::npos) {
    answer.left_out = "it was an address of the machine where it ran";
    return;
  }
  compare(check, now, answer);
}

void ConnectionReplay::compare(const RecordedConnection& check, const policy::NetworkAnswer& now,
                               ReplayAnswer& answer) const {
  if (now.allowed != check.allowed) {
    answer.differences.push_back(
        fmt::format("it was {}, and is {}", word_of(check.allowed), word_of(now.allowed)));
    return;
  }
  const auto known = places_.find(now.said_in);
  const std::string& rule = known == places_.end() ? now.said_in : known->second;
  if (gate::bounded(rule, gate::kRecordedText) == check.rule && now.layer == check.layer) return;
  answer.differences.push_back(
      fmt::format("it names the statement '{}' of '{}', and it is '{}' of '{}'", check.rule,
                  check.layer, rule, now.layer));
}

std::vector<std::string> ConnectionReplay::ended(const Json& payload) {
  const Json* id = find_member(payload, "connection");
  if (id == nullptr || !id->is_number_unsigned()) return {"a connection without a number ended"};
  const auto node = open_.extract(id->get<std::uint64_t>());
  if (node.empty()) return {"a connection ended that nobody had allowed"};
  const std::string address = string_member(payload, "address");
  if (address.empty()) return {};  // none was reached
  const auto dialled = read_address(address);
  const auto& allowed = node.mapped().allowed;
  if (dialled && std::ranges::find(allowed, policy::unwrap(*dialled)) != allowed.end()) return {};
  return {"it was connected to an address that was not allowed"};
}

}  // namespace

namespace {

class Replayer {
 public:
  explicit Replayer(const LockOf& lock_of) : lock_of_(lock_of) {}

  Result<void> event(const audit::Event& event) {
    id_ = event.event_id;
    if (event.kind == "RunStarted") return start(event.payload);
    if (event.kind == "Revoked") revoked_.insert(string_member(event.payload, "permission"));
    if (event.kind == "Anomaly" && string_member(event.payload, "what").starts_with("too many"))
      revoked_.insert("*");
    if (event.kind == "CapabilityCheck") return check(event.payload);
    if (event.kind == "NetworkCheck") return connection(event.payload);
    if (calls_ && event.kind == "Approval") calls_->approval(event);
    if (calls_ && event.kind == "CallFinished") differ(calls_->finished(event.payload));
    if (connections_ && event.kind == "ConnectionEnded" &&
        string_member(event.payload, "server") == server_)
      differ(connections_->ended(event.payload));
    return {};
  }
  // The events of the next file come now.
  void go_on() { replay_ = {}; }
  RunReplay take() { return std::move(replay_); }

 private:
  Result<void> start(const Json& payload);
  void start_again(const Json& payload);
  Result<void> check(const Json& payload);
  Result<void> connection(const Json& payload);
  void count(ReplayAnswer answer);
  [[nodiscard]] Revoked is_revoked(const std::string& permission) const {
    return revoked_.contains("*") || revoked_.contains(permission) ? Revoked::kYes : Revoked::kNo;
  }

  void differ(std::string what) {
    if (replay_.differences.size() < kMaxDifferences) {
      replay_.differences.push_back({id_, std::move(what)});
    } else {
      ++replay_.further_differences;
    }
  }
  void differ(std::vector<std::string> all) {
    for (auto& what : all) differ(std::move(what));
  }
  void leave_out(std::string why) { ++replay_.not_recomputed[std::move(why)]; }

  const LockOf& lock_of_;
  RunReplay replay_;
  std::string id_;  // of the event that is looked at
  Json started_;
  std::set<std::string> revoked_;
  std::unique_ptr<ReplayedRun> run_;
  std::string server_;  // whose own record it is; empty: a run's
  // Of run_, which they borrow:
  std::optional<CallReplay> calls_;
  std::optional<ConnectionReplay> connections_;
};

constexpr const char* kNoPolicy =
    "an older mcpac recorded it, or the run does not begin with its policy";

Result<void> Replayer::start(const Json& payload) {
  const Json* policy = find_member(payload, "policy");
  if (policy == nullptr) return {};  // an older mcpac: its checks say so, one by one
  if (run_) {
    start_again(payload);
    return {};
  }
  if (policy::digest_of_record(*policy) != string_member(payload, "policy_digest"))
    differ("the policy is not the one whose digest was recorded");
  std::vector<std::string> differences;
  auto run = load_replayed_run(*policy, payload, lock_of_, differences);
  if (!run) return pass_on(run);
  differ(std::move(differences));
  started_ = payload;
  if (!*run) return {};
  run_ = std::move(*run);
  server_ = server_of_record(payload);
  if (server_.empty()) calls_.emplace(*run_);
  connections_.emplace(*run_->authority, *policy);
  return {};
}

// In another file of its record, with all that it began with.
void Replayer::start_again(const Json& payload) {
  if (!payload.contains("continues")) return differ("the run begins twice");
  Json before = started_;
  Json now = payload;
  for (Json* json : {&before, &now}) {
    json->erase("continues");
    json->erase("revoked");
  }
  if (before != now) differ("it goes on with what another run began with");
}

void Replayer::count(ReplayAnswer answer) {
  if (answer.left_out.empty()) {
    ++replay_.recomputed;
  } else {
    leave_out(std::move(answer.left_out));
  }
  differ(std::move(answer.differences));
}

Result<void> Replayer::check(const Json& payload) {
  ++replay_.decisions;
  auto read = read_check(payload);
  if (!read) return pass_on(read);
  if (*read && calls_) {
    count(calls_->check(**read, is_revoked((*read)->capability)));
  } else {
    leave_out(kNoPolicy);
  }
  return {};
}

Result<void> Replayer::connection(const Json& payload) {
  ++replay_.decisions;
  auto read = read_connection(payload);
  if (!read) return pass_on(read);
  if (read->server != server_) {
    leave_out("connections of a confined server are decided by its entry");
  } else if (connections_) {
    count(connections_->check(*read, is_revoked(policy::kNetworkPermission)));
  } else {
    leave_out(kNoPolicy);
  }
  return {};
}

}  // namespace

Result<RunReplay> replay_run(const std::vector<audit::Event>& events, const LockOf& lock_of,
                             const EventsOf& earlier) {
  Replayer replayer(lock_of);
  for (const std::string& file :
       events.empty() ? std::vector<std::string>() : files_before(events.front())) {
    if (!earlier)
      return fail(ErrorId::kAuditUnreadable, "it goes on with another file, and that is not there");
    auto before = earlier(file);
    if (!before) return pass_on(before);
    for (const auto& event : *before) {
      if (auto done = replayer.event(event); !done) return pass_on(done);
    }
    replayer.go_on();
  }
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

}  // namespace mcpac::history
