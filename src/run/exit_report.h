// SPDX-License-Identifier: Apache-2.0

// ExitReport: errors of programs that ended by themselves, and what a run had done when it ended,
// as reports of runs have them.
//
// What was not caught is told by the program (gate::Uncaught), which may tell anything: it is text
// for people, of bounded length, and decides nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "gate/agent_door.h"
#include "gate/gate.h"

namespace mcpac::run {

// The id of a call's failure that the gate passed on as `id`: what became of the server. Another
// text is kServerError.
[[nodiscard]] ErrorId server_error_id(std::string_view id);

[[nodiscard]] Error uncaught_error(const gate::Uncaught& uncaught);
// The host ended its connection for what it sent: `why`.
[[nodiscard]] Error expelled_error(std::string_view why);

// The calls of a run, when it ended: a user who ends it from outside must know what was done by
// then.
struct RunCalls {
  std::map<std::string, gate::EndedCalls> ended{};  // by permission
  std::vector<gate::GateStatus::Call> unanswered{};

  [[nodiscard]] bool is_empty() const { return ended.empty() && unanswered.empty(); }
};
// "git.push had not answered for 2.1 s; the call was sent and may have been done: look before you
// repeat it; calls that had ended: git.add 3, git.commit 1 (1 failed)". One line.
[[nodiscard]] std::string what_was_done(const RunCalls& calls);
// {"ended": [{"permission", "calls", "failed", "unknown"}], "in_flight": [{"permission", "ms",
// "outcome"}]}
[[nodiscard]] Json to_json(const RunCalls& calls);

}  // namespace mcpac::run
