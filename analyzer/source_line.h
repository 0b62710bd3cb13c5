// SPDX-License-Identifier: Apache-2.0

// Lines of a source, and columns in them: ours count bytes, what people and other tools see counts
// characters.
#pragma once

#include <cstddef>
#include <string_view>

namespace mcpac::analyzer {

// The line of that number, from 1, without its end; empty where there is none.
[[nodiscard]] inline std::string_view line_of(std::string_view source, unsigned line) {
  for (unsigned at = 1; at < line; ++at) {
    const auto end = source.find('\n');
    if (end == std::string_view::npos) return {};
    source.remove_prefix(end + 1);
  }
  return source.substr(0, source.find('\n'));
}

// Number of UTF-8 characters before the byte at `column`, from 1.
[[nodiscard]] inline std::size_t characters_before(std::string_view line, unsigned column) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i + 1 < column && i < line.size(); ++i)
    characters += (static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80U ? 1 : 0;
  return characters;
}

}  // namespace mcpac::analyzer
