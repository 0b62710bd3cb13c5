// SPDX-License-Identifier: Apache-2.0

#include "policy/match/path_value.h"

#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/ascii.h"
#include "core/uri_spelling.h"

namespace mcpac::policy {
namespace {

bool is_refused_in_path(char c) {
  return is_control(c) || c == '\\';
}

// "$HOME", "${x}", "$(x)"; "$id.tsx" is a name.
bool begins_with_variable(std::string_view text) {
  return text.size() > 1 && text[0] == '$' &&
         (is_upper(text[1]) || text[1] == '{' || text[1] == '(');
}

std::optional<std::string> normalised(std::string_view text, uninorm_t form = UNINORM_NFC) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  if (u8_check(bytes, text.size()) != nullptr) return std::nullopt;
  std::size_t length = 0;
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> normal(
      u8_normalize(form, bytes, text.size(), nullptr, &length), &std::free);
  if (!normal) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(normal.get()), length);
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

bool is_nfc(std::string_view text) {
  return is_ascii(text) || normalised(text) == text;
}

std::string nfc(std::string_view text) {
  return is_ascii(text) ? std::string(text) : normalised(text).value_or(std::string(text));
}

std::string nfd(std::string_view text) {
  return is_ascii(text) ? std::string(text)
                        : normalised(text, UNINORM_NFD).value_or(std::string(text));
}

bool has_unassigned(std::string_view text) {
  if (is_ascii(text)) return false;
  const auto* at = reinterpret_cast<const std::uint8_t*>(text.data());
  for (std::size_t left = text.size(); left > 0;) {
    ucs4_t character = 0;
    const int size = u8_mbtoucr(&character, at, left);
    if (size <= 0) return false;  // no UTF-8, which is another matter
    if (uc_is_general_category(character, UC_UNASSIGNED)) return true;
    at += size;
    left -= static_cast<std::size_t>(size);
  }
  return false;
}

Components split(std::string_view text) {
  Components components;
  while (!text.empty()) {
    const auto slash = std::min(text.find('/'), text.size());
    const auto component = text.substr(0, slash);
    if (!component.empty() && component != ".") components.emplace_back(component);
    text.remove_prefix(std::min(slash + 1, text.size()));
  }
  return components;
}

bool is_pathspec(std::string_view text) {
  return text.size() > 1 && text[0] == ':' && std::string_view("/(!^").contains(text[1]);
}

std::optional<PathValue> read_path(std::string_view text) {
  if (text.empty() || text.size() > kMaxPath || std::ranges::any_of(text, is_refused_in_path) ||
      !is_nfc(text) || has_unassigned(text)) {
    return std::nullopt;
  }
  return PathValue{text.front() == '/', split(text)};
}

bool begins_with_home(std::string_view text) {
  if (!text.starts_with('~')) return false;
  return text.size() == 1 || !(is_digit(text[1]) || std::string_view("=> ").contains(text[1]));
}

std::optional<PathValue> read_path_value(std::string_view text) {
  if (begins_with_home(text) || scheme_length(text) > 0 || begins_with_variable(text) ||
      is_pathspec(text))
    return std::nullopt;
  return read_path(text);
}

std::string join(const Components& components) {
  std::string path;
  for (const auto& component : components) path += "/" + component;
  return path.empty() ? "/" : path;
}

Components collapse(const Components& components) {
  Components clean;
  for (const auto& component : components) {
    if (component != "..") {
      clean.push_back(component);
    } else if (!clean.empty()) {
      clean.pop_back();
    }
  }
  return clean;
}

bool begins_with(const Components& path, const Components& base) {
  return path.size() >= base.size() && std::equal(base.begin(), base.end(), path.begin());
}

}  // namespace mcpac::policy
