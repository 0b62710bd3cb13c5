// From ECMA-262 regular expressions to RE2 syntax.
#pragma once

#include <string>
#include <string_view>

#include "core/error.h"

namespace mcpac::schema {

// The same set of matching texts, in RE2 syntax; an error names the construct that RE2 lacks.
[[nodiscard]] Result<std::string> re2_syntax(std::string_view ecma);

}  // namespace mcpac::schema
