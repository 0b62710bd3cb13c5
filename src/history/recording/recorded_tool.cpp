// SPDX-License-Identifier: Apache-2.0

#include "history/recording/recorded_tool.h"

#include "core/offer.h"

namespace mcpac::history {

RecordedTool recorded_tool(const codegen::Lock& lock, const Permission& tool) {
  RecordedTool known;
  const auto* locked = lock.find_tool(tool.server(), tool.tool());
  if (locked == nullptr) {
    // Reading a resource and getting a prompt are calls of no tool.
    known.reads_only = offer_named(tool.tool()).has_value();
    return known;
  }
  known.digest = locked->digest;
  const Json definition(locked->definition);
  if (const Json* schema = find_member(definition, "inputSchema"))
    known.input = gate::SecretPlaces::of(*schema);
  if (const Json* schema = find_member(definition, "outputSchema"))
    known.output = gate::SecretPlaces::of(*schema);
  const Json* hints = find_member(definition, "annotations");
  const Json* hint = hints == nullptr ? nullptr : find_member(*hints, "readOnlyHint");
  known.reads_only = hint != nullptr && *hint == true;
  return known;
}

}  // namespace mcpac::history
