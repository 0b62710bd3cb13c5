// SPDX-License-Identifier: Apache-2.0

// Record: audit payloads of a call, of bounded size.
//
// A check holds the caller and the call, the decision, its rule and layer, and what the
// decision rested on, so that it can be made again (history/records/replay.h). How much of the
// arguments it holds is the user's choice (policy::AuditLevel): what reveals more is left out here,
// and nowhere else. Sizes are bounded because the program under audit chooses most of these texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "policy/authority.h"

namespace mcpac::gate {

enum class Mode : std::uint8_t {
  kEnforce,
  // `--no-permission-check`: a call that the run was not granted, or only with a question, is
  // forwarded and recorded as such. Every deny, the layers above the run's own (a program's
  // declaration is one), the lock and the schemas hold all the same (policy::Lifted).
  kObserve,
};

// The step of the gate that answered a call.
enum class DecidedBy : std::uint8_t {
  kUnknownTool,  // the lock has no such tool
  kNotOffered,   // the client knows no tool by this name, whatever the lock has
  kRevoked,
  kDrift,      // the server changed the tool
  kNotObject,  // the arguments
  kSchema,     // the locked one refuses the arguments
  // Arguments that the user wants recorded and that no record holds, or more paths than one call
  // may have looked up. Neither is recorded.
  kTooLarge,
  kDeclared,  // the program does not declare the tool
  kPolicy,
  kApproval,  // it needed an answer, and there was none, or a no
};
[[nodiscard]] std::string_view to_string(DecidedBy step);
[[nodiscard]] std::optional<DecidedBy> decided_by_from(std::string_view text);

// Arguments that are recorded themselves, as JSON text: an event of the log has room for this much,
// and for where their paths lead (policy::kMaxPathFactBytes).
inline constexpr std::size_t kMaxRecordedArguments = std::size_t{512} << 10U;

// What of the arguments looks like a path or a URL (a URL without user info, query and fragment,
// where tokens live), by any reading of a value (policy/match/readings.h), in their order.
struct Targets {
  // Places that the call may have named beside those that are listed.
  enum class Unlisted : std::uint8_t {
    kNone,
    kNames,   // plain words, which a server may take for names in the folder that it counts from
    kPlaces,  // any: there were more than are kept, or longer ones
  };
  std::vector<std::string> listed;
  // Paths that stand in a text which is none itself ("cat /etc/hosts"), absolute or with "..":
  // what a server does with them is not known.
  std::vector<std::string> mentioned;
  Unlisted unlisted = Unlisted::kNone;
};
[[nodiscard]] Targets targets_of(const Json& arguments);
// Whether any text of a member of this name is listed, however it looks: by the last word of the
// name ("file_path", "outputPath", "cwd"; policy/match/parameter_names.h).
[[nodiscard]] bool is_place_key(std::string_view key);

struct Check {
  std::uint64_t call_id = 0;  // pairs a check with its CallFinished within one run
  std::string capability;     // "server.tool", as asked for
  std::string tool_digest;    // of the locked definition; empty for an unknown tool
  DecidedBy decided_by = DecidedBy::kUnknownTool;
  policy::AuditLevel level = policy::AuditLevel::kHash;
  policy::Evidence evidence;      // of a call that came to the policy
  std::string arguments_digest;   // keyed, of the arguments as they are forwarded, without secrets
  std::optional<Json> arguments;  // without secrets; at AuditLevel::kArgs alone
  bool redacted = false;          // secrets were taken out
  Targets targets;                // the first is the call's target in lists
  bool allowed = false;
  bool would_deny = false;  // observe mode let through what was not granted
  std::string rule;         // the printed rule that decided or nearly did
  std::string layer;
  std::string place;  // where that rule stands: "mcpac.policy:12"; not recorded, the rule is
  std::string reason;
  // policy::taken_for of its arguments: for the user's side alone, and not recorded.
  std::string taken_for;
  bool used_up = false;         // the rule would admit the call, had it not reached a limit
  bool ended = false;           // with used_up: its `until` is over; not recorded, the reason is
  std::size_t other_rules = 0;  // of that layer, that missed as well
  // The least that would admit exactly this call, or why there is none; not recorded.
  std::string would_grant;
  std::string no_grant;
  std::vector<policy::AskRule> asks;  // rules that want an answer first
  std::string approval;               // the id of the Approval event that answers them
  // With DecidedBy::kApproval: whether there was a no, and how; not recorded, the Approval is.
  enum class SaidNo : std::uint8_t { kNot, kToThisCall, kForGood };
  SaidNo said_no = SaidNo::kNot;
  std::string program_run;  // of the client's program that made the call; or empty
};

// The payload of a "CapabilityCheck", as text; `decision_id` is a fresh UUID. Every call waits for
// it, so it is written as it is and no value is made before.
[[nodiscard]] std::string check_payload(const Check& check, std::string_view decision_id,
                                        Mode mode);

// The payload of a "CallFinished". `charged_bytes`: what `bytes in` was charged, where a rule has
// one.
[[nodiscard]] std::string finished_payload(std::uint64_t call_id, std::string_view outcome,
                                           std::int64_t duration_us,
                                           std::optional<std::size_t> result_bytes,
                                           std::optional<std::size_t> charged_bytes);

}  // namespace mcpac::gate
