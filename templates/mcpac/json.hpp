// Json: nlohmann's, under one name. Free-form arguments and results are values of this type.
#pragma once

#include <cstddef>
#include <string_view>

#include <nlohmann/json.hpp>

namespace mcpac {

using Json = ::nlohmann::json;

namespace detail {

// Of a text in a tool's answer. Json is written, copied and compared by recursion, which takes some
// hundred bytes of stack a level: a server must not end a program by a text of brackets.
inline constexpr ::std::size_t kDeepestJson = 4'096;

// The JSON that a text is; a discarded value where it is none, or nests deeper than that.
[[nodiscard]] inline Json json_of_text(::std::string_view text) {
  ::std::size_t depth = 0;
  bool is_quoted = false;
  for (::std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (is_quoted) {
      at += c == '\\' ? 1 : 0;
      is_quoted = c != '"';
    } else if (c == '"') {
      is_quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return Json(Json::value_t::discarded);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return Json::parse(text, nullptr, false);
}

}  // namespace detail
}  // namespace mcpac
