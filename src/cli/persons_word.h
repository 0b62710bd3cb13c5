// SPDX-License-Identifier: Apache-2.0

// Person's word: the consent that a switch needs to weaken a run's restrictions.
//
// The writer of a command line, a model as well, can write --no-permission-check or --min-tier C.
// So neither holds by itself: the user says so once in a setting of their account, which neither a
// project nor the environment can name (settings.h), or says yes at the terminal. An approver is a
// program, and its word is none.
#pragma once

#include <string>
#include <string_view>

#include "cli/context.h"
#include "cli/run_options.h"

namespace mcpac::cli {

// Who said that this run may be weakened as `options` ask: for people and the record; empty where
// they ask for nothing. kPersonNeeded where no person did.
[[nodiscard]] Result<std::string> persons_word(const RunOptions& options, sandbox::Tier lowest);

// The same of --min-tier alone.
[[nodiscard]] Result<std::string> word_for_tier(sandbox::Tier lowest);
// The same of a setting that lets every run have it.
[[nodiscard]] Result<std::string> word_for_accepting(sandbox::Tier tier);

// Whether the person at the terminal says yes to a question, which ends "[y/N] "; no where there is
// no terminal.
[[nodiscard]] bool says_yes_at_terminal(std::string_view question);

}  // namespace mcpac::cli
