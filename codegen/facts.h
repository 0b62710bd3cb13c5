// SPDX-License-Identifier: Apache-2.0

// Facts: the constraints of a schema as lines for a reader ("default: 5", "1 to 20", "format:
// date-time").
//
// They are documentation; the host checks the schema itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/model.h"
#include "core/json.h"

namespace mcpac::codegen {

[[nodiscard]] std::vector<std::string> facts_of(const OrderedJson& schema);

// Title, description and facts; `at_use` is the schema with a $ref, whose own words come first.
[[nodiscard]] Words words_of(const OrderedJson& at_use, const OrderedJson& schema);

// Descriptions in the schema for single values of an enum: "x-enumDescriptions" (a list or an
// object), or oneOf/anyOf of constants that have a description or a title.
void describe_values(const OrderedJson& schema, std::vector<Enumerator>& values);

// Name of a type made from the schema: its title if that is short, else `otherwise`; PascalCase.
[[nodiscard]] std::string type_hint(const OrderedJson& schema, std::string_view otherwise);

// A member that is a string, else "".
[[nodiscard]] std::string text_of(const OrderedJson& object, std::string_view name);

}  // namespace mcpac::codegen
