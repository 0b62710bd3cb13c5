// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/confusables.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "core/characters.h"

namespace mcpac::analyzer {
namespace {

// \u0430, \U00000430 and \u{430} are the character itself.
std::string without_escapes(std::string_view spelled) {
  std::string text;
  while (!spelled.empty()) {
    const auto slash = spelled.find('\\');
    text += spelled.substr(0, slash);
    if (slash == std::string_view::npos) break;
    spelled.remove_prefix(std::min(slash + 2, spelled.size()));
    const bool braced = spelled.starts_with('{');
    if (braced) spelled.remove_prefix(1);
    unsigned code = 0;
    const auto [end, error] =
        std::from_chars(spelled.data(), spelled.data() + spelled.size(), code, 16);
    if (error == std::errc()) append_utf8(text, code);
    spelled.remove_prefix(static_cast<std::size_t>(end - spelled.data()) + (braced ? 1 : 0));
    if (error != std::errc()) break;
  }
  return text;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

const detail::LookAlike* look_alike(char32_t code) {
  const auto table = detail::look_alikes();
  const auto found = std::ranges::lower_bound(table, code, {}, &detail::LookAlike::last);
  return found != table.end() && found->first <= code ? &*found : nullptr;
}

void append_ascii(std::string& text, char c) {
  switch (c) {
    case '0': text += 'O'; break;
    case '1':
    case 'I': text += 'l'; break;
    case 'm': text += "rn"; break;
    default: text += c;
  }
}

bool has_ascii_letter(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

bool has_look_alike(std::string_view text) {
  while (!text.empty()) {
    const Character character = first_character(text);
    // Accented and joined letters of Latin belong beside ASCII letters.
    if (character.code >= 0x250 && look_alike(character.code) != nullptr) return true;
    text.remove_prefix(character.bytes);
  }
  return false;
}

}  // namespace

std::string skeleton(std::string_view identifier) {
  std::string text;
  while (!identifier.empty()) {
    const Character character = first_character(identifier);
    const detail::LookAlike* like = look_alike(character.code);
    if (character.code < 0x80) {
      append_ascii(text, identifier.front());
    } else if (like == nullptr) {
      text += identifier.substr(0, character.bytes);
    } else if (like->first != like->last) {
      append_ascii(text, static_cast<char>(static_cast<char32_t>(like->text.front()) +
                                           (character.code - like->first)));
    } else {
      text += like->text;
    }
    identifier.remove_prefix(character.bytes);
  }
  return text;
}

void check_confusables(const std::vector<Token>& tokens, const Request& request,
                       Findings& findings) {
  std::vector<const Token*> foreign;
  for (const Token& token : tokens) {
    const bool name = token.kind == CXToken_Identifier || token.kind == CXToken_Keyword;
    const bool escaped = token.text.find('\\') != std::string::npos;
    if (name && (escaped || !is_ascii(token.text))) foreign.push_back(&token);
  }
  if (foreign.empty()) return;
  std::map<std::string, std::string, std::less<>> plain;  // by skeleton
  for (const Token& token : tokens) {
    if (token.kind != CXToken_Identifier && token.kind != CXToken_Keyword) continue;
    const std::string name = without_escapes(token.text);
    if (is_ascii(name)) plain.emplace(skeleton(name), name);
  }
  std::set<std::string> generated{"mcp", "mcpac", "Requires", "Narrow", "agent_main", "runtime"};
  for (const auto& [cpp, permission] : request.permissions) {
    for (std::size_t at = 0; at < cpp.size();) {
      const auto end = std::min(cpp.find("::", at), cpp.size());
      generated.insert(cpp.substr(at, end - at));
      at = end + 2;
    }
  }
  for (const std::string& name : generated) plain.emplace(skeleton(name), name);
  for (const Token* token : foreign) {
    const std::string name = without_escapes(token->text);
    if (is_ascii(name)) continue;
    if (const auto twin = plain.find(skeleton(name)); twin != plain.end()) {
      findings.add("confusable-identifier", token->place,
                   fmt::format("`{}` looks like `{}` and is another name", name, twin->second),
                   fmt::format("write `{}`, or choose a name that nobody mistakes", twin->second));
    } else if (has_ascii_letter(name) && has_look_alike(name)) {
      findings.add("mixed-script", token->place,
                   fmt::format("`{}` mixes letters that look like others", name),
                   "use the letters of one script");
    }
  }
}

}  // namespace mcpac::analyzer
