#include "core/schema/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "core/ascii.h"
#include "core/schema/regex.h"

namespace mcpac::schema {
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
