// SPDX-License-Identifier: Apache-2.0

// SourceText: a rule text with its name, and errors that point into it with line, column and caret.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/error.h"

namespace mcpac::policy {

struct SourceText {
  std::string name;       // "--grant", "mcpac.policy": stands before the line number
  std::string_view text;  // borrowed

  // "--grant:1:12", the line itself and a caret below the column.
  [[nodiscard]] std::string place(std::size_t offset) const;
  // "mcpac.policy:12"; an option is a line by itself: "--grant".
  [[nodiscard]] std::string line_of(std::size_t offset) const;
  [[nodiscard]] std::unexpected<Error> error(ErrorId id, std::size_t offset, std::string what,
                                             std::string why = "", std::string fix = "") const;
};

// The text with what is not seen by its number, cut to `max` bytes at a character's border: fit for
// messages.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max = 80);

}  // namespace mcpac::policy
