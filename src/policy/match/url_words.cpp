// Words of a text in which authorities are looked for (url.h, word_texts).
#include <unistr.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "core/ascii.h"
#include "core/characters.h"
#include "core/trimmed.h"
#include "policy/match/path_readings.h"
#include "policy/match/url.h"

namespace mcpac::policy {
namespace {

// More words than this are prose, in which a name with a dot is no host by itself: "see evil.com
// for more". A command has one or two: "ssh evil.com ls".
constexpr int kMostPlainWords = 2;

bool is_prose(std::string_view text) {
  int words = 0;
  bool is_value = false;  // of an option
  while (!text.empty() && words <= kMostPlainWords) {
    const auto end = std::ranges::find_if(text, ends_word) - text.begin();
    std::string_view word = text.substr(0, static_cast<std::size_t>(end));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.empty()) continue;
    if (word == "//" || word == "#") return true;  // a comment
    const bool is_option = word.size() > 1 && word.front() == '-';
    while (!word.empty() && std::string_view(".,:;!?()[]*_").contains(word.back()))
      word.remove_suffix(1);
    while (!word.empty() && std::string_view("([*_").contains(word.front())) word.remove_prefix(1);
    const bool is_plain = !word.empty() && std::ranges::all_of(word, [](char c) {
      return is_letter(c) || c == '-' || static_cast<unsigned char>(c) >= 0x80;
    });
    if (is_plain && !is_option && !is_value) ++words;
    is_value = is_option && !word.contains('=');
  }
  return words > kMostPlainWords;
}

// What takes quotes and escapes off a word.
enum class ReadBy : std::uint8_t { kShell, kSource };

// A text as a shell, a mail address or source code reads its words: quotes within a word, escapes
// and variables without a value are gone. Quotes around words stay, for they part texts.
class Unquoted {
 public:
  Unquoted(std::string_view text, ReadBy by) : text_(text), by_(by) {}

  std::string read() {
    out_.reserve(text_.size());
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\') {
        read_escape();
      } else if (is_quote_mark(c)) {
        read_quotes();
      } else if (c == '&' && by_ == ReadBy::kSource && reads_entity()) {
        continue;
      } else if (c != '$' || !skips_variable()) {
        out_ += c;
        ++at_;
      }
    }
    return std::move(out_);
  }

 private:
  static bool is_quote_mark(char c) { return c == '\'' || c == '"' || c == '`'; }
  static bool is_in_word(char c) {
    return is_word(c) || std::string_view("-.%@").contains(c) ||
           static_cast<unsigned char>(c) >= 0x80;
  }
  [[nodiscard]] char next(std::size_t beyond) const {
    return at_ + beyond < text_.size() ? text_[at_ + beyond] : '\0';
  }

  void read_quotes() {
    auto end = at_;
    while (end < text_.size() && is_quote_mark(text_[end])) {
      is_open_ = !is_open_;
      ++end;
    }
    const char behind = end < text_.size() ? text_[end] : '\0';
    const bool is_within = !out_.empty() && is_in_word(out_.back()) && is_in_word(behind);
    // `"b b:"@h` is a mail address, `"@scope/name"` is none.
    const bool ends_user = behind == '@' && !is_open_;
    if (!is_within && !ends_user) out_.append(text_.substr(at_, end - at_));
    at_ = end;
  }

  void read_escape() {
    const char c = next(1);
    const auto digits = [&](std::size_t from, std::size_t count, int base) {
      unsigned value = 0;
      for (std::size_t i = from; i < from + count; ++i) {
        const int digit = hex_value(next(i));
        if (digit < 0 || digit >= base) return 0U;
        value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
      }
      return value;
    };
    if (c == 'x' && append(digits(2, 2, 16), 4)) return;
    if (c == 'u' && append(digits(2, 4, 16), 6)) return;
    if (append(digits(1, 3, 8), 4)) return;
    const bool ends_line = c == 'n' || c == 't' || c == 'r';
    if (by_ == ReadBy::kSource && ends_line) out_ += ' ';
    const bool is_taken = c != '\0' && c != '\n' && !(by_ == ReadBy::kSource && ends_line);
    if (is_taken) out_ += c;
    at_ += c == '\0' ? 1 : 2;
  }

  // A character of an escape that is so long; zero is none.
  bool append(unsigned code, std::size_t length) {
    if (code == 0) return false;
    std::uint8_t bytes[4];
    const int count = ::u8_uctomb(bytes, code, sizeof bytes);
    if (count <= 0) return false;
    out_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
    at_ += length;
    return true;
  }

  // A character of HTML: "&#47;", "&#x2f;", "&sol;".
  bool reads_entity() {
    struct Named {
      std::string_view name;
      char character;
    };
    static constexpr Named kNamed[] = {{"&sol;", '/'},    {"&colon;", ':'}, {"&period;", '.'},
                                       {"&commat;", '@'}, {"&quest;", '?'}, {"&bsol;", '\\'}};
    const auto rest = text_.substr(at_);
    for (const auto& [name, character] : kNamed) {
      if (rest.starts_with(name)) return append(static_cast<unsigned char>(character), name.size());
    }
    if (!rest.starts_with("&#")) return false;
    const bool is_hex = rest.size() > 2 && to_lower(rest[2]) == 'x';
    const std::size_t begin = is_hex ? 3 : 2;
    constexpr std::size_t kMostDigits = 8;
    unsigned code = 0;
    std::size_t end = begin;
    for (; end < rest.size() && end < begin + kMostDigits && hex_value(rest[end]) >= 0; ++end) {
      if (!is_hex && !is_digit(rest[end])) break;
      code = code * (is_hex ? 16 : 10) + static_cast<unsigned>(hex_value(rest[end]));
    }
    if (end == begin) return false;
    return append(code, end < rest.size() && rest[end] == ';' ? end + 1 : end);
  }

  // "$@", "${x}", "$()" in a word, and the dollar of "$'h'".
  bool skips_variable() {
    constexpr std::size_t kLongestName = 64;
    const char c = next(1);
    if (c == '@' || c == '*') {
      at_ += 2;
      return true;
    }
    if (c == '\'' || c == '"') {
      ++at_;
      return true;
    }
    if (c != '{' && c != '(') return false;
    const auto end = text_.substr(0, at_ + kLongestName).find(c == '{' ? '}' : ')', at_);
    if (end == std::string_view::npos || (c == '(' && end != at_ + 2)) return false;
    at_ = end + 1;
    return true;
  }

  std::string_view text_;
  ReadBy by_;
  std::size_t at_ = 0;
  std::string out_;
  bool is_open_ = false;  // a quote
};

// The words with braces of a command, as a shell expands them, blanks between them; nothing where
// there are too many.
std::optional<std::string> expanded(std::string_view text) {
  std::string all;
  const std::size_t most = kLeastPathBudget + kPathBudgetPerByte * text.size();
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" \t\r\n"), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!word.contains('{')) continue;
    const auto alternatives = brace_alternatives(word);
    if (!alternatives) return std::nullopt;
    for (const auto& one : *alternatives) all.append(one).append(" ");
    if (all.size() > most) return std::nullopt;
  }
  return all;
}

}  // namespace

// What no URL has within it, and what stands around one.
bool ends_word(char c) {
  // A table, for long texts are looked at byte by byte.
  static constexpr auto kEnds = [] {
    std::array<bool, 256> ends{};
    for (std::size_t byte = 0; byte <= 0x20; ++byte) ends[byte] = true;
    for (const char mark : std::string_view("\"'`<>{}^|"))
      ends[static_cast<unsigned char>(mark)] = true;
    return ends;
  }();
  return kEnds[static_cast<unsigned char>(c)];
}

std::string with_plain_blanks(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const char c = text.front();
    if (static_cast<unsigned char>(c) < 0x80) {
      out += c == '\\' ? '/' : c;
      text.remove_prefix(1);
      continue;
    }
    const Character character = first_character(text);
    const char32_t code = character.code;
    const bool is_gap = is_wide_blank(code) || code == 0xAB || code == 0xBB || code == 0x85 ||
                        (code >= 0x2018 && code <= 0x201F) || code == 0x2028 || code == 0x2029 ||
                        code == 0x2039 || code == 0x203A || (code >= 0x2045 && code <= 0x2046) ||
                        (code >= 0x2768 && code <= 0x2775) || (code >= 0x27E6 && code <= 0x27EF) ||
                        (code >= 0x3008 && code <= 0x301F && code != 0x3012 && code != 0x3013) ||
                        code == 0x3001 || code == 0xFF0C || code == 0xFF1B;
    if (is_gap) {
      out += ' ';
    } else {
      out.append(text.substr(0, character.bytes));
    }
    text.remove_prefix(character.bytes);
  }
  return out;
}

std::vector<WordText> word_texts(std::string_view text, TextIs is) {
  std::vector<WordText> texts;
  const bool is_command = is == TextIs::kCommand;
  texts.push_back({with_plain_blanks(text), false});
  texts.front().is_prose = !is_command && is_prose(texts.front().text);
  const bool has_apostrophe = std::ranges::count(text, '\'') % 2 != 0;
  const auto add = [&](const std::string& other) {
    if (other == text) return;
    std::string words = with_plain_blanks(other);
    if (std::ranges::find(texts, words, &WordText::text) != texts.end()) return;
    // "don't use h": an apostrophe makes no word of two.
    const bool in_prose =
        !is_command && (is_prose(words) || (has_apostrophe && texts.front().is_prose));
    texts.push_back({std::move(words), in_prose});
  };
  if (text.find_first_of("\\'\"`$") != std::string_view::npos)
    add(Unquoted(text, ReadBy::kShell).read());
  const bool has_entities = text.contains('&') && text.contains(';');
  if (has_entities || text.contains('\\')) add(Unquoted(text, ReadBy::kSource).read());
  if (!is_command || !text.contains('{')) return texts;
  if (const auto words = expanded(text)) {
    add(*words);
  } else {
    texts.front().is_unclear = true;
  }
  return texts;
}

}  // namespace mcpac::policy
