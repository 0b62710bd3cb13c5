// SPDX-License-Identifier: Apache-2.0

// Standing: relation of a program's declaration to its grants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/json.h"

namespace mcpac::policy {

// Relation of a declared permission to the grants, before anything runs.
enum class Coverage : std::uint8_t {
  kCovered,      // every call is admitted, read by its text and with no limit used up
  kConditional,  // some rule admits some calls: each is decided when it is made
  kMissing,      // no rule can admit any call
};

// Relation of a declared permission to the grants, in full.
struct DeclaredStanding {
  Coverage coverage = Coverage::kMissing;
  // Missing, although rules speak of the tool: a call that is declared and refused, as it would be
  // sent.
  std::optional<Json> refused = {};
  bool is_certain = true;  // false: comparing took too long, and each call will be decided
  std::size_t steps = 0;   // of its budget, that comparing took
};

}  // namespace mcpac::policy
