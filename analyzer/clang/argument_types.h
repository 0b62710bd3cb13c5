// SPDX-License-Identifier: Apache-2.0

// Argument types: the types of generated fields in words for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/clang/cx.h"
#include "analyzer/clang/given_arguments.h"

namespace mcpac::analyzer {

enum class Shape : std::uint8_t {
  kText,
  kInteger,
  kNumber,
  kBoolean,
  kEnum,
  kList,
  kStruct,
  kOther  // several, or any: everything fits
};

// The type without what only says whether the value may be absent: Required, Optional, Nullable,
// Box.
[[nodiscard]] CXType bare_argument(CXType field);
[[nodiscard]] bool is_required_wrapper(CXType field);
[[nodiscard]] Shape shape_of(CXType bare);
// Of an expression; only literals show their type in the text.
[[nodiscard]] Shape shape_of(const Given& given);
// Of an expression whose type is known; kOther for whatever may become anything.
[[nodiscard]] Shape value_shape(CXType type);
// "the result of filesystem::read_text_file", "a future": what a call gives that has to be asked
// for its value first; empty for others.
[[nodiscard]] std::string made_by_call(CXType type);
// The expression for such a value: "result.text()"; empty where that is not known.
[[nodiscard]] std::string value_of_result(CXType type, Shape wanted, const std::string& text);
[[nodiscard]] bool fits(Shape wanted, Shape given);
// "a number", "text"
[[nodiscard]] std::string words(Shape shape);
// "std::string", "std::vector<Args::Edits>"
[[nodiscard]] std::string type_name(CXType bare);
// The same of an expression: "const char *" stays what it is.
[[nodiscard]] std::string value_name(CXType type);
// "Level::high" for every enumerator.
[[nodiscard]] std::vector<std::string> enumerator_names(CXType bare);

}  // namespace mcpac::analyzer
