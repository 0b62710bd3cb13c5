// SPDX-License-Identifier: Apache-2.0

// Quoted: names in the messages of clang, which stand between apostrophes.
#pragma once

#include <string_view>

namespace mcpac::analyzer {

// The text behind `before`, which ends with the opening apostrophe, up to the closing one; empty
// where `before` does not occur. An alias stands with its type beside it, 'Mine' (aka
// 'mcpac::Requires<…>'): the type counts.
[[nodiscard]] inline std::string_view quoted_after(std::string_view text, std::string_view before) {
  const auto start = text.find(before);
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start + before.size());
  const std::string_view name = text.substr(0, text.find('\''));
  constexpr std::string_view kAka = "' (aka '";
  text.remove_prefix(name.size());
  if (!text.starts_with(kAka)) return name;
  text.remove_prefix(kAka.size());
  return text.substr(0, text.find('\''));
}

}  // namespace mcpac::analyzer
