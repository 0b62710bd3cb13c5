// SPDX-License-Identifier: Apache-2.0

// WorkerChoice: the commands that a worker of the resident host may take over (docs/resident.md).
// One answer for bin/mcpac, which sees words, and for all of mcpac, which has read them.
#pragma once

#include <span>
#include <string>

#include "core/file.h"

namespace mcpac::cli {

// False where only all of mcpac can tell: another command than `execute` and `run`, help, another
// project's file, or an option that says to leave workers aside. The words come after "mcpac".
[[nodiscard]] bool may_go_to_a_worker(std::span<const std::string> words);

// MCPAC_ALONE in the environment.
[[nodiscard]] bool is_told_to_be_alone();

// The terminal where a person can answer: nothing where there is none, or we are in its background.
[[nodiscard]] UniqueFd open_terminal();

// A worker has no terminal: it could ask no person there. Nor may it read one as standard input,
// from the background neither, where it would take the shell's.
[[nodiscard]] bool has_terminal();

}  // namespace mcpac::cli
