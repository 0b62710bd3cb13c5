// The calls of a recorded run, decided again (replay.h).
//
// Limits and answers of people are counted along: what a call is decided with is what the calls
// before it left. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "audit/log.h"
#include "history/records/recorded_check.h"
#include "history/records/replay_answer.h"
#include "history/records/replayed_run.h"

namespace mcpac::history {

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

}  // namespace mcpac::history
