// SPDX-License-Identifier: Apache-2.0

#include "core/uri_spelling.h"

#include <algorithm>

#include "core/ascii.h"

namespace mcpac {
namespace {

// A '%' that may be encoded again, any number of times.
constexpr std::string_view kPercent = "%(?:25)*";

// A character beyond ASCII: as it is, as codes of its UTF-8, and as "%uXXXX".
struct Lookalike {
  std::string_view raw;
  std::string_view bytes;  // in hexadecimal digits
  std::string_view number;
};
constexpr Lookalike kDotLike[] = {
    {"\uFF0E", "efbc8e", "ff0e"}, {"\u2024", "e280a4", "2024"}, {"\uFE52", "efb992", "fe52"}};
constexpr Lookalike kTwoDotsLike[] = {{"\u2025", "e280a5", "2025"}, {"\uFE30", "efb8b0", "fe30"}};
// Slashes and backslashes.
constexpr Lookalike kSlashLike[] = {{"\uFF0F", "efbc8f", "ff0f"}, {"\uFF3C", "efbcbc", "ff3c"},
                                    {"\uFE68", "efb9a8", "fe68"}, {"\u2044", "e28184", "2044"},
                                    {"\u2215", "e28895", "2215"}, {"\u2216", "e28896", "2216"}};
constexpr Lookalike kSemicolonLike[] = {{"\uFF1B", "efbc9b", "ff1b"}, {"\u037E", "cdbe", "037e"}};
// What readers trim, and what no screen shows.
constexpr Lookalike kBlankLike[] = {{"\u00A0", "c2a0", "00a0"},   {"\u00AD", "c2ad", "00ad"},
                                    {"\u200B", "e2808b", "200b"}, {"\u200C", "e2808c", "200c"},
                                    {"\u200D", "e2808d", "200d"}, {"\u2060", "e281a0", "2060"},
                                    {"\u3000", "e38080", "3000"}, {"\uFEFF", "efbbbf", "feff"}};

// Hexadecimal digits in both cases.
std::string either_case(std::string_view digits) {
  std::string out;
  for (const char c : digits) {
    if (is_digit(c)) {
      out += c;
    } else {
      out.append({'[', c, static_cast<char>(c - 'a' + 'A'), ']'});
    }
  }
  return out;
}

template <std::size_t N>
std::string any_of(const Lookalike (&characters)[N]) {
  std::string pattern;
  for (const auto& [raw, bytes, number] : characters) {
    if (!pattern.empty()) pattern += '|';
    pattern.append(raw).append("|");
    for (std::size_t i = 0; i < bytes.size(); i += 2)
      pattern.append(kPercent).append(either_case(bytes.substr(i, 2)));
    pattern.append("|").append(kPercent).append("u").append(either_case(number));
  }
  return pattern;
}

// A byte of ASCII in codes: plain, "%u00XX", and in overlong UTF-8, where decoders look at a few
// bits only.
std::string codes_of(std::string_view digits, std::string_view lead, std::string_view last) {
  const std::string percent(kPercent);
  std::string pattern = percent + "(?:u00)?" + either_case(digits) + "|";
  pattern += percent + "(?:[cC]" + std::string(lead) + "|[eE]0" + percent + "8" + std::string(lead);
  pattern += "|[fF]0" + percent + "80" + percent + "8" + std::string(lead) + ")";
  return pattern + "(?:" + percent + std::string(last) + ")";
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

std::string slash_code_pattern() {
  return codes_of("2f", "0", "[aA2][fF]") + "|" + codes_of("5c", "1", "[951][cC]") + "|" +
         any_of(kSlashLike);
}

std::string dot_segment_pattern(std::string_view before) {
  const std::string slash = slash_code_pattern();
  const std::string blanks = "(?: |" + std::string(kPercent) + "20|" + any_of(kBlankLike) + ")*";
  const std::string dot =
      "(?:\\.|" + codes_of("2e", "0", R"([aA2][eE]|\.)") + "|" + any_of(kDotLike) + ")";
  std::string pattern = "(?:" + std::string(before) + "|" + slash + ")" + blanks;
  pattern += "(?:" + dot + blanks + "(?:" + dot + blanks + ")?|(?:" + any_of(kTwoDotsLike) + ")";
  pattern += blanks + ")(?:[/?#;]|" + slash + "|" + std::string(kPercent) + "(?:u00)?3[bB]|";
  return pattern + any_of(kSemicolonLike) + "|$)";
}

std::string read_apart_pattern() {
  std::string pattern = dot_segment_pattern("[/:]");
  return pattern.append("|").append(kControlCode).append("|").append(kNeedlessCode);
}

std::size_t scheme_length(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return 0;
  const auto end = std::ranges::find_if_not(
      text, [](char c) { return is_alphanumeric(c) || c == '+' || c == '-' || c == '.'; });
  return end != text.end() && *end == ':' ? static_cast<std::size_t>(end - text.begin()) : 0;
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

namespace {

std::size_t scheme_with_slashes(std::string_view text) {
  const auto length = scheme_length(text);
  return length > 0 && text.substr(length).starts_with("://") ? length : 0;
}

}  // namespace

bool has_capital_scheme(std::string_view text) {
  return std::ranges::any_of(text.substr(0, scheme_with_slashes(text)), is_upper);
}

std::string with_lower_scheme(std::string_view text) {
  const auto length = scheme_with_slashes(text);
  return lowered(text.substr(0, length)).append(text.substr(length));
}

}  // namespace mcpac
