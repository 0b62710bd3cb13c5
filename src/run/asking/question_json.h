// SPDX-License-Identifier: Apache-2.0

// Questions and answers as approver commands see them: one JSON object each way
// (docs/approver.schema.json).
#pragma once

#include <string>
#include <string_view>

#include "gate/approver.h"
#include "run/asking/run_approver.h"

namespace mcpac::run {

// One line, the newline included.
[[nodiscard]] std::string question_line(const gate::Question& question);
[[nodiscard]] std::string question_line(const ProgramReview& review);

enum class Asks : std::uint8_t { kCall, kProgram };
// The whole output of a command. Anything but exactly one well-formed answer to this question is
// kNobody, with the reason.
[[nodiscard]] gate::Reply read_answer(std::string_view output, Asks asks,
                                      std::string_view question);

// "2026-11-22T18:00:00Z" or a duration such as 15m from now.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> read_until(
    std::string_view text, std::chrono::system_clock::time_point now);

}  // namespace mcpac::run
