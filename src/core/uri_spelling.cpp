#include "core/uri_spelling.h"

#include <algorithm>

#include "core/ascii.h"

namespace mcpac {
namespace {

// How many bytes the scheme of a text has; 0: it does not begin with one and "://".
std::size_t scheme_length(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return 0;
  const auto end = std::ranges::find_if_not(
      text, [](char c) { return is_alphanumeric(c) || c == '+' || c == '-' || c == '.'; });
  const auto length = static_cast<std::size_t>(end - text.begin());
  return text.substr(length).starts_with("://") ? length : 0;
}

// The byte that a needless code at the beginning stands for, or '\0'.
char needless_code(std::string_view text) {
  if (text.size() < 3 || text[0] != '%') return '\0';
  const int high = hex_value(text[1]);
  const int low = hex_value(text[2]);
  if (high < 0 || low < 0) return '\0';
  const char c = static_cast<char>(high * 16 + low);
  return is_bare(c) || c == '.' || c == '~' ? c : '\0';
}

}  // namespace

std::string read_apart_pattern() {
  std::string pattern = "(?:[/:]|";
  pattern.append(kSlashCode).append(")").append(kDots);
  pattern.append("(?:[/?#]|").append(kSlashCode).append("|$)|");
  return pattern.append(kControlCode).append("|").append(kNeedlessCode);
}

std::string without_needless_codes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    // What was decoded may end a code that began before it: "%%361" is "%61", which is "a".
    while (out.size() >= 3) {
      const char c = needless_code(std::string_view(out).substr(out.size() - 3));
      if (c == '\0') break;
      out.resize(out.size() - 3);
      out += c;
    }
  }
  return out;
}

bool has_capital_scheme(std::string_view text) {
  return std::ranges::any_of(text.substr(0, scheme_length(text)), is_upper);
}

std::string with_lower_scheme(std::string_view text) {
  const auto length = scheme_length(text);
  return lowered(text.substr(0, length)).append(text.substr(length));
}

}  // namespace mcpac
