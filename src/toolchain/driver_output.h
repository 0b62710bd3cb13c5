// SPDX-License-Identifier: Apache-2.0

// Asks the clang driver which command it would run, without running it (`-###`).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"

namespace mcpac::toolchain {

// The last command of the driver's plan, as argv. The environment of the question is empty, so that
// CPATH, LIBRARY_PATH, CCC_OVERRIDE_OPTIONS and their like have no say in how agents are built.
[[nodiscard]] Result<std::vector<std::string>> ask(const std::filesystem::path& driver,
                                                   const std::vector<std::string>& flags);

// Splits one line of `-###` output: double-quoted words with backslash escapes.
[[nodiscard]] std::vector<std::string> split_quoted(std::string_view line);

}  // namespace mcpac::toolchain
