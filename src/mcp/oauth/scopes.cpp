#include "mcp/oauth/scopes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace mcpac::mcp::oauth {

std::vector<std::string> split_scopes(std::string_view text) {
  std::vector<std::string> scopes;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const std::string word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!word.empty() && std::ranges::find(scopes, word) == scopes.end()) scopes.push_back(word);
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
  const auto held = split_scopes(all);
  return std::ranges::all_of(split_scopes(wanted), [&](const std::string& scope) {
    return std::ranges::find(held, scope) != held.end();
  });
}

}  // namespace mcpac::mcp::oauth
