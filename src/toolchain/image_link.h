// SPDX-License-Identifier: Apache-2.0

// ImageLink: the linker's input about the runner, by which a program becomes an image for it
// (docs/adr/0024).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/object_file.h"
#include "toolchain/runner_symbols.h"

namespace mcpac::toolchain {

// An object file with the addresses of all that these objects need from the runner, or have and it
// has as well: there is one of each. Nothing: the program has, or needs, what no image can, and is
// linked as a program of its own (thread-local variables; a name that the runner does not have).
[[nodiscard]] std::optional<std::string> addresses_for(
    const std::vector<analyzer::ObjectFile>& objects, const RunnerSymbols& runner);

}  // namespace mcpac::toolchain
