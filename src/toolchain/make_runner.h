// SPDX-License-Identifier: Apache-2.0

// MakeRunner: the program that images run in, built beside the precompiled runtime
// (docs/adr/0024).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "toolchain/library_symbols.h"
#include "toolchain/toolchain.h"

namespace mcpac::toolchain {

// A folder in the making: where it is on the host (kPrepared inside), and the sandboxed tools that
// write into its output/ (kOutput inside). Borrowed.
struct RunnerPlace {
  const std::filesystem::path& folder;
  std::function<Result<void>(const std::vector<std::string>& command)> run;
};

// Makes output/runner, output/image_table.o and the list `runner.symbols`; runtime.o lies in
// output/ already. Sets `toolchain.runner_digest`.
[[nodiscard]] Result<void> make_runner(Toolchain& toolchain, const LibrarySymbols& known,
                                       const RunnerPlace& place);

// A text that changes with the runner's sources.
[[nodiscard]] const std::string& runner_identity();

// The command with "{objects}" replaced by `objects`.
[[nodiscard]] std::vector<std::string> with_objects(std::vector<std::string> command,
                                                    const std::vector<std::string>& objects);

}  // namespace mcpac::toolchain
