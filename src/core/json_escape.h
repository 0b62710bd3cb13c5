// JsonEscape: how a character that a JSON string cannot hold is written in one, in the shortest
// form and lower case (RFC 8785, section 3.2.2.2): all that we write ourselves is written alike.
#pragma once

#include <string>

namespace mcpac {

// '"', '\\' and controls below 0x20; they are what must not stand there as they are.
[[nodiscard]] constexpr bool needs_json_escape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}
void append_json_escape(std::string& out, char c);

}  // namespace mcpac
