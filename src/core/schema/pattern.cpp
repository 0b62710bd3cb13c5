// SPDX-License-Identifier: Apache-2.0

#include "core/schema/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/error.h"

namespace mcpac::schema {
namespace {

// From ECMA-262 regular expressions to RE2 syntax.

// The same set of matching texts, in RE2 syntax; an error names the construct that RE2 lacks.
[[nodiscard]] Result<std::string> re2_syntax(std::string_view ecma);

// ECMA's \s is Unicode white space and line terminators; RE2's is five ASCII characters.
constexpr std::string_view kSpace =
    R"(\x{9}-\x{d}\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff})";
constexpr std::string_view kNotSpace =
    R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e})"
    R"(\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff})";
constexpr std::string_view kDot = R"([^\x{a}\x{d}\x{2028}\x{2029}])";
constexpr std::string_view kAnything = R"([\x{0}-\x{10ffff}])";
constexpr std::string_view kNothing = R"([^\x{0}-\x{10ffff}])";

// RE2 knows the short names of Unicode's general categories only.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kCategories = {{
    {"Letter", "L"},
    {"Uppercase_Letter", "Lu"},
    {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Symbol", "S"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Other", "C"},
    {"Control", "Cc"},
    {"cntrl", "Cc"},
}};

enum class Position { kOutside, kInClass };

class Translator {
 public:
  explicit Translator(std::string_view ecma) : text_(ecma) {}

  Result<std::string> run() {
    while (at_ < text_.size() && problem_.empty()) {
      const char c = text_[at_];
      const std::size_t begin = out_.size();
      if (c == '{' && repetition()) continue;
      if (c == '\\') {
        escape(Position::kOutside);
      } else if (c == '[') {
        character_class();
      } else if (c == '(') {
        groups_.push_back(begin);
        group();
      } else if (c == '.') {
        put(kDot, 1);
      } else {
        put(text_.substr(at_, 1), 1);
      }
      if (is_continued_byte(c)) continue;
      // What has been repeated is not repeated again, nor is what matches no text.
      atom_ = std::string_view("*+?^$|(").contains(c) ? std::string::npos : begin;
      if (c == ')' && !groups_.empty()) {
        atom_ = groups_.back();
        groups_.pop_back();
      }
    }
    if (problem_.empty()) return std::move(out_);
    return fail(ErrorId::kSchemaInvalid, problem_);
  }

 private:
  void put(std::string_view translated, std::size_t consumed) {
    out_ += translated;
    at_ += consumed;
  }
  void refuse(std::string_view what) { problem_ = fmt::format("{} (at byte {})", what, at_); }
  [[nodiscard]] char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void code_point(std::uint32_t value, std::size_t consumed) {
    put(fmt::format("\\x{{{:x}}}", value), consumed);
  }

  // Not the first byte of a character.
  [[nodiscard]] static bool is_continued_byte(char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
  }

  [[nodiscard]] std::optional<std::size_t> number(std::size_t& at) const {
    constexpr std::size_t kLongest = 7;  // digits
    const std::size_t begin = at;
    while (at < text_.size() && is_digit(text_[at]) && at - begin < kLongest) ++at;
    if (at == begin) return std::nullopt;
    std::size_t value = 0;
    std::from_chars(text_.data() + begin, text_.data() + at, value);
    return value;
  }

  // A repetition that RE2 takes is left to it; a larger one is written out in parts that it takes.
  // False: this brace begins none, or one for RE2.
  bool repetition() {
    std::size_t at = at_ + 1;
    const auto least = number(at);
    if (!least) return false;
    auto most = least;
    if (at < text_.size() && text_[at] == ',') most = number(++at);
    const bool is_closed = at < text_.size() && text_[at] == '}';
    if (!is_closed) return false;
    const bool is_large = *least > kMostRepeated || most.value_or(0) > kMostRepeated;
    if (!is_large || (most && *most < *least) || atom_ >= out_.size()) {
      put(text_.substr(at_, at + 1 - at_), at + 1 - at_);
      atom_ = std::string::npos;
      return true;
    }
    if (std::max(*least, most.value_or(0)) > kMostWritten) {
      refuse("a repetition is too large");
      return true;
    }
    ++at;
    if (at < text_.size() && text_[at] == '?') ++at;  // which match is found, and not whether
    if (at < text_.size() && std::string_view("*+?{").contains(text_[at])) {
      refuse("nothing to repeat");
      return true;
    }
    const std::string atom = out_.substr(atom_);
    // Repetitions within repetitions multiply, and what is written here no budget of RE2 counts.
    const std::size_t copies = 2 * (std::max(*least, most.value_or(0)) / kMostRepeated) + 3;
    if ((atom.size() + kMostOfPart) * copies > kMostText - std::min(out_.size(), kMostText)) {
      refuse("repetitions within repetitions are too large");
      return true;
    }
    out_.resize(atom_);
    out_ += "(?:";
    for (std::size_t left = *least; left > 0; left -= std::min(left, kMostRepeated))
      out_ += fmt::format("{}{{{}}}", atom, std::min(left, kMostRepeated));
    out_ += most ? up_to(atom, *most - *least) : atom + "*";
    out_ += ")";
    at_ = at;
    atom_ = std::string::npos;
    return true;
  }

  // At most `most` times. Each text is read in one way alone: x{0,1000}x{0,1000} has a thousand,
  // and an automaton is in all of them at once.
  static std::string up_to(const std::string& atom, std::size_t most) {
    if (most == 0) return "";
    if (most <= kMostRepeated) return fmt::format("{}{{0,{}}}", atom, most);
    return fmt::format("(?:{0}{{0,{1}}}|{0}{{{2}}}{3})", atom, kMostRepeated - 1, kMostRepeated,
                       up_to(atom, most - kMostRepeated));
  }

  void group() {
    if (peek(1) != '?') return put("(", 1);
    const auto rest = text_.substr(at_ + 2);
    if (rest.starts_with(':')) return put("(?:", 3);
    if (rest.starts_with("i:")) return put("(?i:", 4);
    if (rest.starts_with("i)")) return put("(?i)", 4);  // Python's; its meaning is not in doubt
    if (rest.starts_with('=') || rest.starts_with('!') || rest.starts_with("<=") ||
        rest.starts_with("<!")) {
      return refuse("look-around is not supported");
    }
    // A name is for reading a match, which is not done here. "(?P<" is Python's way to write it.
    const std::size_t name = rest.starts_with("P<") ? 2 : rest.starts_with('<') ? 1 : 0;
    const auto end = rest.find('>');
    if (name == 0 || end == std::string_view::npos)
      return refuse("this kind of group is not supported");
    put("(", 2 + end + 1);
  }

  void character_class() {
    const bool negated = peek(1) == '^';
    const std::size_t start = negated ? 2 : 1;
    if (peek(start) == ']') return put(negated ? kAnything : kNothing, start + 1);
    put(negated ? "[^" : "[", start);
    while (problem_.empty()) {
      if (at_ >= text_.size()) return refuse("a character class is not closed");
      const char c = text_[at_];
      if (c == ']') return put("]", 1);
      if (c == '\\') {
        escape(Position::kInClass);
      } else if (c == '[') {
        put("\\[", 1);  // RE2 would read "[:" as the start of a POSIX class
      } else {
        put(text_.substr(at_, 1), 1);
      }
    }
  }

  void escape(Position place) {
    const char c = peek(1);
    const bool in_class = place == Position::kInClass;
    switch (c) {
      case 'd':
      case 'D':
      case 'w':
      case 'W':
      case 't':
      case 'n':
      case 'r':
      case 'f':
      case 'v': return put(text_.substr(at_, 2), 2);
      case 's': return put(in_class ? std::string(kSpace) : fmt::format("[{}]", kSpace), 2);
      case 'S': return put(in_class ? std::string(kNotSpace) : fmt::format("[{}]", kNotSpace), 2);
      case 'b': return in_class ? put("\\x{8}", 2) : put("\\b", 2);
      case 'B': return in_class ? refuse("\\B in a character class") : put("\\B", 2);
      case 'c': return control();
      case 'x': return hexadecimal(2);
      case 'u': return peek(2) == '{' ? braced() : unicode();
      case 'p':
      case 'P': return property();
      case '0': return code_point(0, 2);
      case 'k': return refuse("back-references are not supported");
      case '\0': return refuse("a lone backslash at the end");
      default: break;
    }
    if (c >= '1' && c <= '9') return refuse("back-references are not supported");
    if (is_letter(c)) {
      return refuse(fmt::format("the escape \\{} is not supported", c));
    }
    // Punctuation and other characters stand for themselves.
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) return code_point(byte, 2);
    ++at_;
  }

  void control() {
    const char c = peek(2);
    if (!is_letter(c)) return refuse("\\c needs a letter");
    code_point(static_cast<unsigned char>(c) % 32U, 3);
  }

  // `digits` hexadecimal digits that begin `offset` bytes ahead.
  [[nodiscard]] std::optional<std::uint32_t> hex(std::size_t offset, std::size_t digits) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const int digit = hex_value(peek(offset + i));
      if (digit < 0) return std::nullopt;
      value = value * 16 + static_cast<std::uint32_t>(digit);
    }
    return value;
  }
  void hexadecimal(std::size_t digits) {
    const auto value = hex(2, digits);
    return value ? code_point(*value, 2 + digits) : refuse("an escape needs hexadecimal digits");
  }
  void unicode() {
    const auto value = hex(2, 4);
    if (!value) return refuse("\\u needs four hexadecimal digits");
    if (*value < 0xd800 || *value > 0xdfff) return code_point(*value, 6);
    const auto low = peek(6) == '\\' && peek(7) == 'u' ? hex(8, 4) : std::nullopt;
    if (*value > 0xdbff || !low || *low < 0xdc00 || *low > 0xdfff)
      return refuse("half a surrogate pair");
    code_point(0x10000 + ((*value - 0xd800) << 10U) + (*low - 0xdc00), 12);
  }
  void braced() {
    const auto end = text_.find('}', at_);
    const std::size_t digits = end == std::string_view::npos ? 0 : end - at_ - 3;
    const auto value = digits >= 1 && digits <= 6 ? hex(3, digits) : std::nullopt;
    if (!value || *value > 0x10ffff) return refuse("\\u{} needs the number of a character");
    code_point(*value, 4 + digits);
  }
  void property() {
    const auto end = text_.find('}', at_);
    if (peek(2) != '{' || end == std::string_view::npos)
      return refuse("\\p needs a name in braces");
    std::string_view name = text_.substr(at_ + 3, end - at_ - 3);
    for (const std::string_view prefix : {"Script=", "sc=", "General_Category=", "gc="}) {
      if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    }
    for (const auto& [written, short_name] : kCategories) {
      if (name == written) name = short_name;
    }
    put(fmt::format("\\{}{{{}}}", peek(1), name), end + 1 - at_);
  }

  static constexpr std::size_t kMostRepeated = 1'000;  // of RE2
  static constexpr std::size_t kMostWritten = 20'000;
  static constexpr std::size_t kMostText = std::size_t{64} << 10U;  // bytes for RE2
  static constexpr std::size_t kMostOfPart = 16;  // of what stands around a repeated part

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  std::size_t atom_ = 0;             // where in `out_` what a repetition would repeat begins
  std::vector<std::size_t> groups_;  // the same of those that are open
  std::string problem_;
};

Result<std::string> re2_syntax(std::string_view ecma) {
  return Translator(ecma).run();
}

}  // namespace

namespace {

// One pattern's automaton; RE2's own limit of 8 MiB times many patterns would be a way to fill
// memory.
constexpr std::int64_t kMaxMemory = 1 << 20;
// Of one that repeats something some thousand times: some 80,000 instructions.
constexpr std::int64_t kMemoryOfLarge = 8 << 20;

// Walks over a pattern as its reader does: what `visit` sees is outside of escapes and classes.
// `visit(position, depth)` returns false to stop.
template <class Visit>
void walk(std::string_view text, Visit visit) {
  int depth = 0;
  bool in_class = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      ++i;
    } else if (in_class) {
      in_class = c != ']';
    } else {
      if (c == ')') --depth;
      if (!visit(i, depth)) return;
      if (c == '(') ++depth;
      in_class = c == '[';
    }
  }
}

// The end of the group that begins the text, after its bracket.
std::optional<std::size_t> group_end(std::string_view text) {
  std::optional<std::size_t> end;
  walk(text, [&](std::size_t at, int depth) {
    if (text[at] == ')' && depth == 0) end = at + 1;
    return !end;
  });
  return end;
}

bool has_top_level_choice(std::string_view text) {
  bool found = false;
  walk(text, [&](std::size_t at, int depth) {
    found = found || (text[at] == '|' && depth == 0);
    return !found;
  });
  return found;
}

// "^A{n,m}$" with one character or class as A, in its parts.
struct Counted {
  std::string_view atom;
  std::uint64_t least = 0;
  std::optional<std::uint64_t> most{};
};

// Where the character, class or dot ends that the text begins with; 0: it is something else.
std::size_t one_character(std::string_view text) {
  if (text.starts_with('[')) {
    std::size_t end = text.starts_with("[^") ? 2 : 1;
    for (; end < text.size() && text[end] != ']'; ++end) {
      if (text[end] == '\\') ++end;
    }
    return end < text.size() ? end + 1 : 0;
  }
  if (text.starts_with('\\'))
    return text.size() > 1 && std::string_view("dDwWsS.-/").contains(text[1]) ? 2 : 0;
  if (text.starts_with('.')) return 1;
  const bool is_plain = !text.empty() && (is_letter(text[0]) || is_digit(text[0]));
  return is_plain ? 1 : 0;
}

std::optional<Counted> counted(std::string_view ecma) {
  if (!ecma.starts_with('^')) return std::nullopt;
  ecma.remove_prefix(1);
  Counted found{.atom = ecma.substr(0, one_character(ecma))};
  ecma.remove_prefix(found.atom.size());
  static const re2::RE2 kRepetition(R"(\{(\d{1,9})(,?)(\d{0,9})\}\??\$)");
  std::string comma;
  std::string most;
  if (found.atom.empty() || !re2::RE2::FullMatch(re2::StringPiece(ecma.data(), ecma.size()),
                                                 kRepetition, &found.least, &comma, &most))
    return std::nullopt;
  if (comma.empty() != most.empty() && comma.empty()) return std::nullopt;
  if (comma.empty()) found.most = found.least;
  if (!most.empty()) found.most = std::stoull(most);
  if (found.most && *found.most < found.least) return std::nullopt;
  return found;
}

std::uint64_t code_points_of(std::string_view text) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace

Pattern::Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

Result<void> Pattern::add(std::string_view ecma, Wanted wanted, int& budget) {
  auto translated = re2_syntax(ecma);
  if (!translated) return pass_on(translated);
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(kMaxMemory);
  auto expression = std::make_unique<re2::RE2>(*translated, options);
  if (expression->error_code() == re2::RE2::ErrorPatternTooLarge) {
    options.set_max_mem(kMemoryOfLarge);
    expression = std::make_unique<re2::RE2>(*translated, options);
  }
  if (!expression->ok()) return fail(ErrorId::kSchemaInvalid, expression->error());
  budget -= expression->ProgramSize();
  if (budget < 0)
    return fail(ErrorId::kSchemaInvalid, "the patterns of this schema are too large together");
  parts_.push_back({std::move(expression), wanted});
  return {};
}

Result<Pattern> Pattern::compile(std::string_view ecma, int& budget) {
  Pattern pattern;
  pattern.text_ = ecma;
  std::string_view rest = ecma.starts_with('^') ? ecma.substr(1) : std::string_view();
  const std::size_t whole = rest.size();
  while (rest.starts_with("(?=") || rest.starts_with("(?!")) {
    const auto end = group_end(rest);
    if (!end) break;
    const auto inner = fmt::format("^(?:{})", rest.substr(3, *end - 4));
    auto added = pattern.add(inner, rest[2] == '=' ? Wanted::kMatch : Wanted::kNoMatch, budget);
    if (!added) return pass_on(added);
    rest.remove_prefix(*end);
  }
  std::string main(ecma);
  if (rest.size() != whole) {
    // "^(?!a)b|c" demands nothing of c, and "(?!a)*" demands nothing at all.
    if (has_top_level_choice(rest) || rest.find_first_of("*+?{") == 0) {
      return fail(ErrorId::kSchemaInvalid, "look-around is not supported here");
    }
    main = "^" + std::string(rest);
  }
  // Counting is no work for an automaton: one that counts has a state for each number.
  const auto count = counted(main);
  constexpr std::uint64_t kCountedByAutomata = 1'000;
  if (count && std::max(count->least, count->most.value_or(0)) > kCountedByAutomata) {
    pattern.least_ = count->least;
    pattern.most_ = count->most;
    main = fmt::format("^{}*$", count->atom);
  }
  auto added = pattern.add(main, Wanted::kMatch, budget);
  if (!added) return pass_on(added);
  return pattern;
}

bool Pattern::matches(std::string_view text) const {
  if (least_ > 0 || most_) {
    const std::uint64_t length = code_points_of(text);
    if (length < least_ || (most_ && length > *most_)) return false;
  }
  return std::ranges::all_of(parts_, [&](const Part& part) {
    const bool found =
        re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *part.expression);
    return found == (part.wanted == Wanted::kMatch);
  });
}

}  // namespace mcpac::schema
