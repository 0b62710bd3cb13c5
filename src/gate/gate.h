// SPDX-License-Identifier: Apache-2.0

// Gate: the reference monitor. Every tool call of every door takes this one way, in this order:
//
//   name → locked? → defaults filled → URLs in one spelling → locked input schema → policy →
//   (a question, where a rule asks, and policy again) → audit record → upstream → answer
//
// What is decided is what is sent: the parsed value is validated, decided, digested and forwarded,
// and the text is not read again. A call that cannot be recorded is not made. Live authority only
// shrinks: there is revoke(), and nothing that gives back. Single-threaded; every call is answered
// exactly once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "audit/log.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/permission.h"
#include "core/work.h"
#include "gate/answer.h"
#include "gate/asking.h"
#include "gate/caller.h"
#include "gate/network_gate.h"
#include "gate/record.h"
#include "gate/upstream.h"
#include "policy/authority.h"

namespace mcpac::gate {

// The program's declaration, as the analyzer found it in the locked headers (never as the program
// tells at run time).
struct Declared {
  std::set<Permission> permissions;  // a call outside these is denied, whatever is granted
  std::vector<std::string> texts;    // the same for people, a Narrow with " where …"
};

struct GateSetup {
  const ToolTable* tools = nullptr;  // borrowed: the lock
  policy::Authority authority;       // of this run or client alone
  Declared declared;
  Upstream* upstream = nullptr;  // borrowed
  audit::Sink* audit = nullptr;  // borrowed
  const Clock* clock = nullptr;  // borrowed
  Mode mode = Mode::kEnforce;
  // A program that is refused this often is broken or probing. Ending its authority bounds the log
  // (to about 60 MB of refusals) without leaving any check unrecorded.
  std::size_t max_refusals = 100'000;
  // Hears of every denial with the user's rule in it: for the user's side alone, never for the
  // program.
  std::function<void(const Check&)> on_denied = nullptr;
  AskSetup asking = {};      // who answers what rules ask; without it asking means denied
  Dialer* dialer = nullptr;  // borrowed; without it no connection is made
  NetworkLimits network = {};
};

// A person's view of a live run.
struct GateStatus {
  struct Call {
    std::uint64_t id = 0;
    std::string permission;
    std::chrono::milliseconds since{0};
    Sent sent = Sent::kMaybeDone;  // kNo: it waits for its server, or for a person
  };
  std::uint64_t allowed = 0;
  std::uint64_t denied = 0;
  std::vector<Call> in_flight;         // that the server works on, oldest first
  const Question* question = nullptr;  // being asked now; valid until the loop turns
  std::size_t questions_waiting = 0;   // with it
  std::size_t connections = 0;         // open, or being opened
  std::set<Permission> revoked;
  bool everything_revoked = false;
  std::vector<policy::RuleMeters> meters;
};

// Counts of a tool's ended calls.
struct EndedCalls {
  std::size_t calls = 0;
  std::size_t failed = 0;   // of them: answered with an error, or not at all
  std::size_t unknown = 0;  // of the failed: sent, without an answer
};

// Result of a revocation.
struct Revocation {
  std::size_t calls = 0;
  std::size_t questions = 0;
  std::size_t connections = 0;
};

struct CallRequest {
  std::string permission;           // "server.tool", as the caller wrote it
  Json arguments = Json::object();  // absent on the wire means {}
  bool is_offered = true;           // false: to this caller the name is none; refused, and recorded
  std::shared_ptr<Caller> caller = nullptr;  // hears of the call while it is in work; may be null
  std::string program_run = {};  // of a client's program that makes it, for the record; or empty
};

class Gate {
 public:
  using CallId = std::uint64_t;
  using Done = std::function<void(Answer)>;

  explicit Gate(GateSetup setup);
  // Cancels upstream calls; their `done` is dropped with the gate. close() first where answers
  // matter.
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // `done` is called exactly once: from inside call() when the answer is a refusal, else later on
  // the loop's thread. It may make further calls, and must not destroy the gate.
  CallId call(CallRequest request, Done done);
  // A connection for the program, decided by host, port and address (network_gate.h).
  CallId connect(const ConnectRequest& request, ConnectDone done);
  // The caller has lost interest: the server is told, and `done` gets an error. Unknown ids are
  // ignored: the answer may have been on its way already.
  void cancel(CallId id);
  // False: nothing of it has gone to its server yet.
  [[nodiscard]] bool was_sent(CallId id) const;

  // Takes authority back, for good, and records that (event Revoked). Calls in flight and questions
  // are cancelled and answered with kRevoked.
  Revocation revoke(const Permission& permission);
  Revocation revoke_all();
  // The run is over: everything is taken back without a record of it, and from now on refusals are
  // not recorded either.
  void close();
  // Unanswered calls when it was closed: those that servers worked on, the oldest first, then those
  // that waited for a person.
  [[nodiscard]] const std::vector<GateStatus::Call>& unanswered() const;
  // Ended calls, by permission.
  [[nodiscard]] const std::map<std::string, EndedCalls>& ended() const;

  // For lists, and for what is said of a thing unasked; nothing is recorded or charged. Whether a
  // tool is still there for this run: declared, not taken back, not another one by now.
  [[nodiscard]] bool stands(const Permission& permission) const;
  // Whether the rules could ever allow such a call, with or without a question: one known this far;
  // any of this tool whose arguments fit `where` (docs/grants.md, as a Narrow has it). Others
  // decide how often that is asked: it is done of `work`, and no where that ends.
  [[nodiscard]] bool could_allow(const Permission& permission, const policy::CallInSource& call,
                                 Work& work) const;
  [[nodiscard]] bool could_allow(const Permission& permission, std::string_view where,
                                 Work& work) const;
  // Whether they allow exactly this call now, unasked.
  [[nodiscard]] bool allows_now(const Permission& permission, Json arguments) const;
  // These arguments as a call would be decided with them and sent; nothing where no such call
  // comes as far as the rules.
  [[nodiscard]] std::optional<Json> as_sent(const Permission& permission, Json arguments) const;

  // Calls that have no answer yet, be it the server's or an approver's.
  [[nodiscard]] std::size_t in_flight() const;
  [[nodiscard]] GateStatus status() const;
  // Everything was taken back, by its user or for too many refusals, or it was closed.
  [[nodiscard]] bool is_cut_off() const;
  [[nodiscard]] const Declared& declared() const;
  // Its rules with their clocks, for what is worked out of them; what was taken back is not in it.
  [[nodiscard]] const policy::Authority& authority() const;

 private:
  struct State;
  std::shared_ptr<State>
      state_;  // shared with callbacks of the upstream, which may outlive the gate
};

}  // namespace mcpac::gate
