// SPDX-License-Identifier: Apache-2.0

// Operations on one value and a compiled schema: names, defaults, validation.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/json_schema.h"
#include "core/schema/node.h"

namespace mcpac::schema {

[[nodiscard]] std::optional<SchemaViolation> validate(const Program& program, const Json& value);
// Fills absent members from "default"; see JsonSchema::fill_defaults.
[[nodiscard]] bool fill_defaults(const Program& program, Json& value);
// A schema that has a default, itself or by what it refers to.
struct WithDefault {
  Node* node;
  const Json* schema;
  std::string location;
};
// Notes and marks each default that its own schema refuses, with what is filled into it.
void mark_refused_defaults(Program& program, const std::vector<WithDefault>& with_default);
// The first member, in the order of the value, that `also` and the schema do not name and that some
// decoder takes for one that they name at this place (names.cpp).
[[nodiscard]] std::optional<SchemaViolation> find_misnamed(const Program& program,
                                                           const Json& value,
                                                           const AlsoNamed& also);
// Those that have a default, or below which something has one, by whichever keyword.
[[nodiscard]] std::unordered_set<const Node*> nodes_with_defaults(const Program& program);

}  // namespace mcpac::schema
