// SPDX-License-Identifier: Apache-2.0

#include "core/percent_code.h"

#include "core/ascii.h"

namespace mcpac {
namespace {

enum class Stray { kKept, kRefused };

// Nothing: a '%' that begins no code, where those are refused.
std::optional<std::string> decoded(std::string_view text, Stray stray) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
                         hex_value(text[i + 2]) >= 0;
    if (!is_code) {
      if (text[i] == '%' && stray == Stray::kRefused) return std::nullopt;
      decoded += text[i];
      continue;
    }
    decoded += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
    i += 2;
  }
  return decoded;
}

}  // namespace

std::string percent_decoded(std::string_view text) {
  return *decoded(text, Stray::kKept);
}

std::optional<std::string> strictly_percent_decoded(std::string_view text) {
  return decoded(text, Stray::kRefused);
}

}  // namespace mcpac
