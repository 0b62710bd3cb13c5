// Validation of one value against a compiled schema.
#pragma once

#include <optional>

#include "core/json_schema.h"
#include "core/schema/node.h"

namespace mcpac::schema {

[[nodiscard]] std::optional<SchemaViolation> validate(const Program& program, const Json& value);
// Fills absent members from "default"; see JsonSchema::fill_defaults.
void fill_defaults(const Program& program, Json& value);

}  // namespace mcpac::schema
