// How types, fields and default values are spelled (templates/EMITTED_FORM.md, "Types" and
// "Fields").
#pragma once

#include <set>
#include <string>

#include "codegen/emitted_words.h"
#include "codegen/model.h"

namespace mcpac::codegen {

// "::std::vector<Entities>"
[[nodiscard]] std::string type_text(const Type& type, const Shape& shape);

// Structs of an Args that some optional field holds: they carry their own presence.
[[nodiscard]] std::set<std::size_t> optional_structs(const Shape& shape);

// "::mcpac::Optional<double> head{};"
[[nodiscard]] std::string field_text(const Field& field, const Shape& shape, ShapeKind kind);

}  // namespace mcpac::codegen
