// Person's word: what a switch waits for that weakens what a run is held to.
//
// The writer of a command line, a model as well, can write --no-permission-check or --min-tier C.
// So neither holds by itself: the user says so once in a file of their own configuration folder,
// outside of every project and readable and writable by them alone (accepted_tier.h), or says yes
// at the terminal. An approver is a program, and its word is none.
#pragma once

#include <filesystem>
#include <string>

#include "cli/context.h"
#include "cli/run_options.h"

namespace mcpac::cli {

// One line, "allowed".
[[nodiscard]] std::filesystem::path off_switch_file();
[[nodiscard]] bool is_off_switch_allowed(const std::filesystem::path& file);

// Who said that this run may be weakened as `options` ask: for people and the record; empty where
// they ask for nothing. kPersonNeeded where nobody did.
[[nodiscard]] Result<std::string> persons_word(const RunOptions& options, sandbox::Tier lowest);

// The same of --min-tier alone.
[[nodiscard]] Result<std::string> word_for_tier(sandbox::Tier lowest);

}  // namespace mcpac::cli
