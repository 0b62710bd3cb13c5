// SPDX-License-Identifier: Apache-2.0

// Spelling of types, fields and default values (templates/EMITTED_FORM.md, "Types" and "Fields").
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/emitted_words.h"
#include "codegen/model.h"

namespace mcpac::codegen {

// "::std::vector<Entities>"
[[nodiscard]] std::string type_text(const Type& type, const Shape& shape);

// Structs of an Args that some optional field holds: they carry their own presence.
[[nodiscard]] std::set<std::size_t> optional_structs(const Shape& shape);

// "::mcpac::Optional<double> head{};"
[[nodiscard]] std::string field_text(const Field& field, const Shape& shape, ShapeKind kind);

// Every required member with the value `absent`, ".name = ::mcpac::absent, .inner = {.x = …}";
// empty where nothing must be given.
[[nodiscard]] std::string absent_members(const std::vector<Field>& fields, const Shape& shape,
                                         const std::string& absent = "::mcpac::absent");

// A JSON value as a C++ expression: "x", 5, true, nullptr.
[[nodiscard]] std::string value_text(const OrderedJson& value);

// The member that holds what a schema lets in without naming it.
[[nodiscard]] std::string extra_text(const ExtraFields& extra, const Shape& shape);

}  // namespace mcpac::codegen
