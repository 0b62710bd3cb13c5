// SPDX-License-Identifier: Apache-2.0

#include "mcp/oauth/scopes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>

namespace mcpac::mcp::oauth {

std::vector<std::string> split_scopes(std::string_view text) {
  std::vector<std::string> scopes;
  // A set: a server may write as many words as its answer holds, and each would be compared with
  // all.
  std::unordered_set<std::string_view> seen;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!word.empty() && seen.insert(word).second) scopes.emplace_back(word);
  }
  return scopes;
}

std::string join_scopes(const std::vector<std::string>& scopes) {
  return fmt::format("{}", fmt::join(scopes, " "));
}

std::string unite_scopes(std::string_view one, std::string_view other) {
  return join_scopes(split_scopes(fmt::format("{} {}", one, other)));
}

bool contains_scopes(std::string_view all, std::string_view wanted) {
  const auto words = split_scopes(all);
  const std::unordered_set<std::string_view> held(words.begin(), words.end());
  return std::ranges::all_of(split_scopes(wanted),
                             [&](const std::string& scope) { return held.contains(scope); });
}

}  // namespace mcpac::mcp::oauth
