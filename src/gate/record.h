// Record: what the audit log keeps of a call, as payloads of bounded size.
//
// A check holds who asked for what, what was decided and by which rule; never the arguments
// themselves, which may be secret, but their digest and the one thing they touch. Sizes are bounded
// because the program under audit chooses most of these texts.
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
  // `--no-permission-check`: what policy denies is forwarded and recorded as such; the lock and the
  // schemas still hold.
  kObserve,
};

struct Check {
  std::uint64_t call_id = 0;     // pairs a check with its CallFinished within one run
  std::string capability;        // "server.tool", as asked for
  std::string tool_digest;       // of the locked definition; empty for an unknown tool
  std::string arguments_digest;  // SHA-256 of the arguments as they are forwarded
  std::optional<std::string> target;
  bool allowed = false;
  bool would_deny = false;  // observe mode let through what policy denies
  std::string rule;         // the printed rule that decided or nearly did
  std::string layer;
  std::string reason;
  std::size_t other_rules = 0;  // of that layer, that missed as well
  std::string would_grant;      // the --grant that would admit exactly this call; may be empty
  std::vector<policy::AskRule> asks;  // rules that want an answer first
  std::string approval;               // the id of the Approval event that answers them
};

// The payload of a "CapabilityCheck"; `decision_id` is a fresh UUID.
[[nodiscard]] Json check_payload(const Check& check, std::string decision_id, Mode mode);

// The payload of a "CallFinished".
[[nodiscard]] Json finished_payload(std::uint64_t call_id, std::string_view outcome,
                                    std::int64_t duration_us,
                                    std::optional<std::size_t> result_bytes);

// The first argument that looks like a path or a URL (a URL without user info, query and fragment,
// where tokens live), at most 256 bytes; nothing when there is none.
[[nodiscard]] std::optional<std::string> target_of(const Json& arguments);

}  // namespace mcpac::gate
