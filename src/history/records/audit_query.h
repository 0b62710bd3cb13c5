// SPDX-License-Identifier: Apache-2.0

// Audit queries: questions to recorded runs, answered from their events alone.
//
// The programs that could have touched a path are found by the rules as they were recorded, read by
// their text: where links led then is not known any more. All else is what happened. Connections
// are asked about as calls of mcpac.network; what a program did with files that it was granted is
// not recorded.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "audit/log.h"
#include "core/json.h"
#include "history/records/replay.h"

namespace mcpac::history {

// Calls and connections that rules deny, by the rule that denied them or came nearest, the most
// frequent first.
struct DeniedByRule {
  std::string layer;
  std::string rule;  // empty: no rule spoke of the tool
  std::string capability;
  std::string target;     // of a connection: "api.example.com:443"
  std::string reason;     // of the last
  bool observed = false;  // made all the same: --no-permission-check
  std::size_t calls = 0;
  std::string first;  // times
  std::string last;
  std::set<std::string> runs;
  std::set<std::string> values{};  // what was asked for, of tools: the first of them
  std::size_t more_values = 0;     // calls with others
};
[[nodiscard]] std::vector<DeniedByRule> denied_by_rule(const std::vector<audit::Event>& events);

// A run that did touch the path, or could have: which tool, by which arguments ("source,
// destination"); by files that it was granted: mcpac.files, and the mode where the argument stands.
// Those that did come first, each in the order of time; a tool of a run that did is not among those
// that could have.
struct Touch {
  std::string run_id;
  std::string program;
  std::string time;
  std::string permission;
  std::string argument;  // empty where it did
  bool did = false;
  bool failed = false;  // it tried to connect, and there was no connection
};
// `path` is absolute; what lies below it counts as the path where a call did touch it.
[[nodiscard]] Result<std::vector<Touch>> who_could_touch(const std::vector<audit::Event>& events,
                                                         const std::string& path,
                                                         const LockOf& lock_of);

// The first allowed call of each tool with each target, oldest first; and the first connection to
// each destination.
struct FirstUse {
  std::string capability;
  std::string target;  // empty: none was recorded
  std::string time;
  std::string run_id;
};
[[nodiscard]] std::vector<FirstUse> first_uses(const std::vector<audit::Event>& events);

// What a run was granted or declared, and never used in any of its files (run_files.h): rules of
// its own layer, statements about the network among them, and tools.
struct Unused {
  std::string run_id;
  std::string program;
  std::vector<std::string> rules;
  std::vector<std::string> permissions;
};
[[nodiscard]] std::vector<Unused> granted_never_used(const std::vector<audit::Event>& events);

// Calls and connections that were allowed after their permission was taken back: there must be
// none.
struct LateCall {
  std::string run_id;
  std::string capability;
  std::string event_id;
  std::string time;
  std::string revoked;  // when
};
[[nodiscard]] std::vector<LateCall> calls_after_revocation(const std::vector<audit::Event>& events);

[[nodiscard]] Json to_json(const std::vector<DeniedByRule>& rows);
[[nodiscard]] Json to_json(const std::vector<Touch>& rows);
[[nodiscard]] Json to_json(const std::vector<FirstUse>& rows);
[[nodiscard]] Json to_json(const std::vector<Unused>& rows);
[[nodiscard]] Json to_json(const std::vector<LateCall>& rows);

}  // namespace mcpac::history
