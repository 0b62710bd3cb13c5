#include "history/records/replay.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "history/records/recorded_check.h"
#include "history/records/recorded_connection.h"
#include "history/records/replay_calls.h"
#include "history/records/replay_connections.h"
#include "history/records/run_files.h"
#include "policy/policy_record.h"

namespace mcpac::history {
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
