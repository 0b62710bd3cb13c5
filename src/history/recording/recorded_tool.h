// SPDX-License-Identifier: Apache-2.0

// RecordedTool: the part of a tool's lock entry that matters to a recording of its calls.
#pragma once

#include <memory>
#include <string>

#include "codegen/lock.h"
#include "core/permission.h"
#include "gate/secret_places.h"

namespace mcpac::history {

struct RecordedTool {
  std::string digest;  // of its definition; empty: it is no tool of the lock
  // Places that its schemas call secret; null: none.
  std::shared_ptr<const gate::SecretPlaces> input;
  std::shared_ptr<const gate::SecretPlaces> output;
  // The definition that was approved says that it changes nothing (annotations.readOnlyHint).
  bool reads_only = false;
};

[[nodiscard]] RecordedTool recorded_tool(const codegen::Lock& lock, const Permission& tool);

}  // namespace mcpac::history
