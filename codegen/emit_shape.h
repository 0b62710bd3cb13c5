// SPDX-License-Identifier: Apache-2.0

// The body of a struct Args or Result: nested types, fields, and mcpac_visit.
#pragma once

#include <string>

#include "codegen/emitted_words.h"
#include "codegen/model.h"

namespace mcpac::codegen {

// "  struct Args { … };" with two spaces of indent, or "  using Args = ::mcpac::Json;".
[[nodiscard]] std::string emit_args(const Shape& shape);
[[nodiscard]] std::string emit_result(const Shape* shape);

// Form of the parts of a description: without the machinery that a caller does not use.
[[nodiscard]] std::string describe_shape(const Shape& shape, ShapeKind kind);

}  // namespace mcpac::codegen
