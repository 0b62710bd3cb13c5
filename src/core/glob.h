// SPDX-License-Identifier: Apache-2.0

// Globs: `*` stands for any run of bytes; everything else for itself.
//
// Takes at most the product of both lengths, whatever they hold.
#pragma once

#include <cstdint>
#include <string_view>

namespace mcpac {

enum class QuestionMark : std::uint8_t { kItself, kAnyByte };

[[nodiscard]] bool glob_matches(std::string_view glob, std::string_view text,
                                QuestionMark question = QuestionMark::kItself);

}  // namespace mcpac
