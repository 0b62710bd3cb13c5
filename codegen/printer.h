// SPDX-License-Identifier: Apache-2.0

// Printer: text with named holes, so that what is written in the source looks like what comes out.
//
//   fill("struct $tool$ {", {{"tool", "read_file"}})
//
// A value may hold several lines. Holes without a value are a bug and throw.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace mcpac::codegen {

using Holes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

[[nodiscard]] inline std::string fill(std::string_view text, Holes holes) {
  std::string out;
  while (true) {
    const auto begin = text.find('$');
    out += text.substr(0, begin);
    if (begin == std::string_view::npos) return out;
    const auto end = text.find('$', begin + 1);
    const auto name = text.substr(begin + 1, end - begin - 1);
    const std::string_view* value = nullptr;
    for (const auto& hole : holes) {
      if (hole.first == name) value = &hole.second;
    }
    if (value == nullptr) throw std::logic_error("no value for the hole " + std::string(name));
    out += *value;
    text.remove_prefix(end + 1);
  }
}

}  // namespace mcpac::codegen
