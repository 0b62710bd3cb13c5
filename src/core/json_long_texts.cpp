#include "core/json_long_texts.h"

#include <charconv>
#include <utility>

#include "core/characters.h"
#include "core/json_escape.h"

namespace mcpac {
namespace {

// Below that the library is as fast.
constexpr std::size_t kLong = 256;

// Where the string that begins at `at`, behind its quote, has its closing quote; npos: nowhere.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    at += plain_json_length(text.substr(at));
    if (at >= text.size()) break;
    if (text[at] == '"') return at;
    at += text[at] == '\\' ? 2 : 1;
  }
  return std::string_view::npos;
}

// Four digits behind "\\u".
std::optional<char32_t> unit_of(std::string_view escape) {
  if (escape.size() < 6 || !escape.starts_with("\\u")) return std::nullopt;
  std::uint16_t unit = 0;
  const char* const last = escape.data() + 6;
  const auto [end, error] = std::from_chars(escape.data() + 2, last, unit, 16);
  if (error != std::errc() || end != last) return std::nullopt;
  return unit;
}

// Takes the escape at the beginning of `text`; false: it is none, or none alone.
bool take_escape(std::string_view& text, std::string& out) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
  const auto simple = text.size() < 2 ? std::string_view::npos : kLetters.find(text[1]);
  if (simple != std::string_view::npos) {
    out += kMeant[simple];
    text.remove_prefix(2);
    return true;
  }
  const auto first = unit_of(text);
  if (!first || (*first >= 0xDC00 && *first < 0xE000)) return false;
  text.remove_prefix(6);
  if (*first < 0xD800 || *first >= 0xE000) return append_utf8(out, *first), true;
  const auto second = unit_of(text);
  if (!second || *second < 0xDC00 || *second >= 0xE000) return false;
  text.remove_prefix(6);
  append_utf8(out, 0x10000 + ((*first - 0xD800) << 10U) + (*second - 0xDC00));
  return true;
}

// What stands between the quotes; nothing where it breaks a rule of JSON.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (true) {
    const std::size_t plain = plain_json_length(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return out;
    if (text.front() == '\\') {
      if (!take_escape(text, out)) return std::nullopt;
      continue;
    }
    if (needs_json_escape(text.front())) return std::nullopt;
    const Character character = first_character(text);
    if (character.bytes == 1) return std::nullopt;  // not ASCII, and no UTF-8
    out += text.substr(0, character.bytes);
    text.remove_prefix(character.bytes);
  }
}

}  // namespace

std::optional<LongTexts> LongTexts::cut_from(std::string_view text) {
  if (text.size() < kLong) return std::nullopt;
  LongTexts found;
  std::size_t kept = 0;
  std::size_t number = 0;
  for (auto quote = text.find('"'); quote != std::string_view::npos; ++number) {
    const auto end = end_of_string(text, quote + 1);
    if (end == std::string_view::npos) break;
    const std::string_view inside = text.substr(quote + 1, end - quote - 1);
    if (inside.size() >= kLong) {
      if (auto whole = decoded(inside)) {
        found.rest_ += text.substr(kept, quote + 1 - kept);
        kept = end;
        found.cuts_.push_back({number, std::move(*whole)});
      }
    }
    quote = text.find('"', end + 1);
  }
  if (found.cuts_.empty()) return std::nullopt;
  found.rest_ += text.substr(kept);
  return found;
}

void LongTexts::put_back(std::string& text) {
  const std::size_t number = strings_++;
  if (next_ == cuts_.size() || cuts_[next_].number != number) return;
  text = std::move(cuts_[next_++].text);
}

}  // namespace mcpac
