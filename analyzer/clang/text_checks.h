// SPDX-License-Identifier: Apache-2.0

// Text checks: checks of a source before it is parsed.
#pragma once

#include <string_view>
#include <vector>

#include "core/error.h"

namespace mcpac::analyzer {

// Fails for an empty source, one with NUL bytes and one that is not UTF-8: a compiler and a reader
// could see different programs in it.
[[nodiscard]] Result<void> check_text(std::string_view source, std::string_view name);

struct TextPlace {
  unsigned line = 0;
  unsigned column = 0;
  bool is_bidirectional = false;
};
// Places of invisible characters: bidirectional controls (CVE-2021-42574, "Trojan Source") and
// those without a glyph. A byte order mark may begin a file.
[[nodiscard]] std::vector<TextPlace> unseen_characters(std::string_view source);

[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace mcpac::analyzer
