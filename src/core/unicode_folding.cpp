// SPDX-License-Identifier: Apache-2.0

#include "core/unicode_folding.h"

#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

#include "core/ascii.h"
#include "core/characters.h"

namespace mcpac {
namespace {

// Full case folding, in a normal form; nothing for what is not UTF-8.
std::optional<std::string> in_one_case(std::string_view text, uninorm_t form) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  if (u8_check(bytes, text.size()) != nullptr) return std::nullopt;
  std::size_t length = 0;
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> plain(
      u8_casefold(bytes, text.size(), nullptr, form, nullptr, &length), &std::free);
  if (!plain) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(plain.get()), length);
}

bool is_left_out_of_member(char32_t code) {
  if (code < 0x80) return std::u32string_view(U"_-. []:$\"'`").contains(code) || is_invisible(code);
  return is_invisible(code) || uc_is_property_quotation_mark(code);
}

}  // namespace

std::string case_folded(std::string_view name) {
  return in_one_case(name, UNINORM_NFC).value_or(std::string(name));
}

std::string folded_member(std::string_view name) {
  const bool is_ascii =
      std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const auto normal = is_ascii ? std::nullopt : in_one_case(name, UNINORM_NFKD);
  if (!is_ascii && !normal) return std::string(name);
  std::string plain;
  for (std::string_view rest = normal ? std::string_view(*normal) : name; !rest.empty();) {
    const auto [code, bytes] = first_character(rest);
    if (!is_left_out_of_member(code)) {
      if (bytes == 1)
        plain += to_lower(rest.front());
      else
        plain += rest.substr(0, bytes);
    }
    rest.remove_prefix(bytes);
  }
  return plain;
}

}  // namespace mcpac
