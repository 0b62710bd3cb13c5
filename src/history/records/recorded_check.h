// SPDX-License-Identifier: Apache-2.0

// A recorded check: the payload of a CapabilityCheck, read back.
#pragma once

#include <optional>
#include <string>

#include "core/json.h"
#include "gate/record.h"
#include "policy/evidence.h"

namespace mcpac::history {

struct RecordedCheck {
  std::uint64_t call_id = 0;
  std::string capability;
  bool allowed = false;
  bool would_deny = false;
  gate::DecidedBy decided_by = gate::DecidedBy::kPolicy;
  std::string rule;
  std::string layer;
  std::string tool_digest;
  std::string approval;
  std::vector<policy::AskRule> asks;
  std::string level;
  policy::Evidence evidence;
  std::optional<Json> arguments;
  bool redacted = false;
};

// Nothing where an mcpac recorded it that did not write down what a decision rests on.
// kAuditUnreadable for a payload that no mcpac wrote.
[[nodiscard]] Result<std::optional<RecordedCheck>> read_check(const Json& payload);

}  // namespace mcpac::history
