// Where a program's source comes from: a file, `-` for standard input, or text.
#pragma once

#include <string>

#include "core/error.h"
#include "execute/snapshot.h"

namespace mcpac::cli {

// `file` may be "-". With `code` not empty that text is the program and `file` must be empty.
[[nodiscard]] Result<execute::Source> read_source(const std::string& file, const std::string& code);

}  // namespace mcpac::cli
