// Check of standard output at the end of every command.
//
// A reader that has had enough (`mcpac … | head`) is no error; a disk that is full is one, and else
// missing output would go unnoticed.
#pragma once

#include "cli/context.h"

namespace mcpac::cli {

// As of a program that SIGPIPE ended.
inline constexpr int kNobodyReads = 128 + 13;

// Whether writing to standard output or standard error failed before.
[[nodiscard]] bool has_lost_output();

// Flushes buffered output. Where its reader is gone the exit code becomes kNobodyReads, where
// it cannot be written there is an error (kFileUnwritable); an exit code that says something else
// stays.
void finish_output(Context& context);

}  // namespace mcpac::cli
