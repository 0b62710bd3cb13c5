// SPDX-License-Identifier: Apache-2.0

// JsonEscape: escape of a character that a JSON string cannot hold, in the shortest form and lower
// case (RFC 8785, section 3.2.2.2): all that we write ourselves is written alike.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpac {

// '"', '\\' and controls below 0x20; they are what must not stand there as they are.
[[nodiscard]] constexpr bool needs_json_escape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}
void append_json_escape(std::string& out, char c);

// The length of the start of `text` that stands in a JSON string as it is and is ASCII. Looks at
// 64 bytes at a time, at the end at eight: almost all of a large text is of that kind.
[[nodiscard]] std::size_t plain_json_length(std::string_view text);

}  // namespace mcpac
