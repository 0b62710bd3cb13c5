// SPDX-License-Identifier: Apache-2.0

// Literals: the constant value of a single expression, where the source alone tells it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "analyzer/clang/cx.h"
#include "core/json.h"

namespace mcpac::analyzer {

// The text of a string literal; nothing where it holds a NUL (libclang would cut it there) or is
// wide.
[[nodiscard]] std::optional<std::string> literal_text(CXCursor literal);
// The text of a constant array, pointer or std::string_view that is initialised by a literal.
[[nodiscard]] std::optional<std::string> constant_text(CXCursor variable);

using Number = std::variant<bool, std::int64_t, std::uint64_t, double>;
[[nodiscard]] inline Json to_json(const Number& number) {
  return std::visit([](auto value) { return Json(value); }, number);
}
// The value of an arithmetic constant expression that is neither type- nor value-dependent.
[[nodiscard]] std::optional<Number> constant_number(CXCursor expression);
// The character of a constant expression of type char; nothing for NUL and beyond ASCII.
[[nodiscard]] std::optional<char> constant_char(CXCursor expression);

}  // namespace mcpac::analyzer
