// SPDX-License-Identifier: Apache-2.0

// Gate::State: the inside of the gate (gate.cpp): calls, decisions, questions and connections.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "gate/asking.h"
#include "gate/gate.h"

namespace mcpac::gate {

// The policy's charge for an allowed call, to be settled when it ends.
struct Reservation {
  std::uint64_t id = 0;  // 0: no rule with a meter matched
  bool counts_result = false;
};

// Who waits for a call: for its answer, and for what is said of it before.
struct CallContext {
  Gate::Done done;
  std::shared_ptr<Caller> caller;
};

// State of a call that waits for its server.
struct Pending {
  Permission permission;
  Gate::Done done;
  Upstream::CallToken token = 0;
  std::chrono::steady_clock::time_point started;
  Reservation reservation;
};

// A call that waits for an answer. Its arguments are the question's: there is one copy of them.
struct Waiting {
  Check check;
  Permission permission;
  CallContext party;
};

struct Gate::State : std::enable_shared_from_this<Gate::State> {
  explicit State(GateSetup given)
      : setup(std::move(given)), asking(setup.asking, *setup.audit, *setup.clock) {
    network.emplace(network_setup());
  }
  NetworkSetup network_setup();

  CallId call(CallRequest request, Done done);

  // Everything before the upstream: an error refuses the call, `check` collects
  // what is recorded.
  std::optional<CallError> judge(const LockedTool& tool, const Permission& permission,
                                 Json& arguments, Check& check, Reservation& reservation);
  // Refusals before any policy: authority that was taken back, a tool that is another one by now.
  std::optional<CallError> still_callable(const Permission& permission, Check& check) const;
  std::optional<CallError> decide(const Permission& permission, const Json& arguments, Check& check,
                                  Reservation& reservation);
  // Restrictions that are lifted for the run.
  [[nodiscard]] policy::Lifted lifted() const {
    return setup.mode == Mode::kObserve ? policy::Lifted::kUngranted : policy::Lifted::kNothing;
  }
  // The policy's decision, for the record and for the user; but for what asks.
  static void note(policy::Decision& decision, Check& check, Reservation& reservation);
  // Says what the path of a denied call was taken for, and what would admit it, where there is a
  // listener.
  void explain_denial(const Permission& permission, const Json& arguments, Check& check);
  // The recorded part of the arguments; an error: they are to be recorded, and cannot.
  std::optional<CallError> keep(const LockedTool& tool, const Permission& permission,
                                const Json& arguments, Check& check) const;

  // Charges the result to `bytes in`; an error in its place where it does not fit any more.
  // Returns the bytes that were charged.
  std::optional<std::size_t> settle(const Reservation& reservation, Answer& answer);
  // And tells `caller`, who may be null, how it was decided.
  [[nodiscard]] bool record(const Check& check, Caller* caller);
  // The rest of a call that nothing stands against any more.
  CallId admit(Check& check, const Permission& permission, Json arguments,
               const Reservation& reservation, CallContext party);
  CallId refuse(const Check& check, CallError error, const CallContext& party);
  // A program that is refused too often is cut off.
  void count_refusal();
  void forward(CallId id, const Permission& permission, Json arguments,
               const Reservation& reservation, CallContext party);
  void finish(CallId id, Answer answer);
  [[nodiscard]] CallError failure_of(CallId id, const Error& error, std::string_view name) const;
  // Ends a call that the server still works on.
  void abandon(CallId id, const std::function<CallError(Sent)>& error);
  // `outcome` is recorded of connections.
  void abandon_if(const std::function<bool(const Permission&)>& matches, std::string_view outcome);
  Revocation revoke_if(const std::function<bool(const Permission&)>& matches, std::string name);

  // That servers work on, the oldest first.
  [[nodiscard]] std::vector<GateStatus::Call> calls_in_flight() const;
  void count(const Permission& permission, const Answer& answer, std::string_view outcome);
  // From here on nothing is called, and what is under way is remembered as that.
  void shut();

  // Held, declared, locked and the same tool still: else no rule is asked.
  [[nodiscard]] const LockedTool* standing_tool(const Permission& permission) const;

  // Connections.
  CallId connect(const ConnectRequest& request, ConnectDone done);
  [[nodiscard]] static bool means_network(const std::function<bool(const Permission&)>& matches);

  // A call that rules want an answer for.
  CallId inquire(Check check, const Permission& permission, Json arguments, CallContext party);
  void answered(CallId id, const Question& question, const Asking::Standing& standing);
  // Decides once more, with the answer: time has passed, and what was shown must be what is sent.
  CallId approve(Check check, const Permission& permission, Json arguments, CallContext party,
                 const Asking::Standing& standing);
  std::optional<CallError> judge_approved(const Permission& permission, const Json& arguments,
                                          Check& check, Reservation& reservation);
  CallId refuse_unapproved(Check check, std::string reason, std::string_view detail,
                           const CallContext& party);
  // Ends calls that wait for an answer.
  void take_back(const std::vector<CallId>& ids,
                 const std::function<CallError(const Waiting&)>& error);
  [[nodiscard]] bool is_revoked(const Permission& permission) const {
    return everything_revoked || revoked_permissions.contains(permission);
  }

  GateSetup setup;
  Asking asking;
  std::optional<NetworkGate> network;  // borrows from here; nothing only once the gate is going
  UuidV7Sequence decision_ids;
  std::unordered_map<CallId, Pending> pending;
  std::map<CallId, Waiting> waiting;  // for an answer; in the order of their questions
  std::set<Permission> revoked_permissions;
  std::set<std::string> explained;  // kinds of denials
  std::vector<GateStatus::Call> unanswered;
  std::map<std::string, EndedCalls> ended_calls;  // by permission; none of those that close() ends
  CallId last_id = 0;
  std::size_t refusals = 0;
  std::uint64_t allowed = 0;
  std::uint64_t denied_calls = 0;
  bool everything_revoked = false;
  bool closed = false;
};

}  // namespace mcpac::gate
