// SPDX-License-Identifier: Apache-2.0

// Questions as a person reads them, and the words that answer them.
//
// Everything that a program chose is shown in printable ASCII, escaped as JSON escapes it: no text
// of it can move the cursor, turn the direction of writing, end a line, or look like another text
// that is sent. What is too long to show is said to be left out, with its size.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "run/asking/run_approver.h"

namespace mcpac::cli {

// `program` as the screen before the run called it; empty where there was none.
[[nodiscard]] std::string question_text(const mcpac::gate::Question& question,
                                        std::string_view program);
[[nodiscard]] std::string question_text(const run::ProgramReview& review);
// All arguments, whole up to 256 KiB, each line but the first with a mark that it goes on.
[[nodiscard]] std::string whole_arguments(const mcpac::gate::Question& question);

// "once", "run", "until 15m", "until 2026-11-22T18:00:00Z", "no", "never"; nothing for other words.
[[nodiscard]] std::optional<gate::Reply> read_call_answer(
    std::string_view line, std::chrono::system_clock::time_point now);
inline constexpr std::string_view kNoneOfTheAnswers = "That is none of the answers.";
// Why a line is none of the answers to a call; one line, without anything of what was typed.
[[nodiscard]] std::string_view why_no_answer(std::string_view line);
// "y", "yes", "n", "no" or an empty line, which is a no.
[[nodiscard]] std::optional<gate::Reply> read_program_answer(std::string_view line);

}  // namespace mcpac::cli
