#include "core/schema/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <optional>

#include "core/schema/regex.h"

namespace mcpac::schema {
namespace {

// One pattern's automaton; RE2's own limit of 8 MiB times many patterns would be a way to fill
// memory.
constexpr std::int64_t kMaxMemory = 1 << 20;

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
  auto added = pattern.add(main, Wanted::kMatch, budget);
  if (!added) return pass_on(added);
  return pattern;
}

bool Pattern::matches(std::string_view text) const {
  return std::ranges::all_of(parts_, [&](const Part& part) {
    const bool found =
        re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *part.expression);
    return found == (part.wanted == Wanted::kMatch);
  });
}

}  // namespace mcpac::schema
