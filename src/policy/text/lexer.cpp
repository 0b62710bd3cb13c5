// SPDX-License-Identifier: Apache-2.0

#include "policy/text/lexer.h"

#include <fmt/format.h>

#include "core/ascii.h"
#include "core/call_arguments.h"

namespace mcpac::policy {
namespace {

constexpr std::size_t kMaxToken = 4096;  // the longest path of Linux; no other token comes near

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool ends_path(char c) {
  return is_blank(c) || is_control(c) ||
         std::string_view(",(){}\"\\").find(c) != std::string_view::npos;
}

// The length of the JSON string or object that begins at `text`, or npos when it does not end.
std::size_t json_length(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    }
    if (!in_string && depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

void Lexer::skip() {
  const auto text = source_.text;
  if (at_ > skipped_to_) token_end_ = at_;
  while (at_ < text.size() && (text[at_] == '#' || is_blank(text[at_]))) {
    if (text[at_] != '#') {
      ++at_;
      continue;
    }
    const std::size_t begin = at_;
    at_ = std::min(text.find('\n', at_), text.size());
    comments_.push_back({begin, at_});
  }
  skipped_to_ = at_;
}

std::size_t Lexer::position() {
  skip();
  return at_;
}

bool Lexer::at_end() {
  return position() == source_.text.size();
}

bool Lexer::sees(std::string_view punctuation) {
  return source_.text.substr(position()).starts_with(punctuation);
}

bool Lexer::take(std::string_view punctuation) {
  if (!sees(punctuation)) return false;
  at_ += punctuation.size();
  return true;
}

std::string_view Lexer::peek_word() {
  const auto rest = source_.text.substr(position());
  if (rest.empty() || !(is_letter(rest[0]) || rest[0] == '_')) return {};
  std::size_t length = 0;
  while (length < rest.size() && is_bare(rest[length])) ++length;
  return rest.substr(0, length);
}

bool Lexer::take_word(std::string_view word) {
  if (peek_word() != word) return false;
  at_ += word.size();
  return true;
}

bool Lexer::sees_name() {
  const auto rest = source_.text.substr(position());
  return !rest.empty() && (is_bare(rest[0]) || rest[0] == '"');
}

bool Lexer::sees_number() {
  const auto rest = source_.text.substr(position());
  if (rest.empty()) return false;
  return is_digit(rest[0]) || (rest[0] == '-' && rest.size() > 1 && is_digit(rest[1]));
}

std::unexpected<Error> Lexer::expected(std::string_view what, std::string fix) {
  const std::size_t at = position();
  std::string found = "the end of the text";
  // Shown behind the last word, not on the empty line that the text ends with.
  if (at == source_.text.size())
    return error(token_end(), fmt::format("expected {}, found {}", what, found), "",
                 std::move(fix));
  if (source_.text.substr(at).starts_with("\xEF\xBB\xBF"))
    return error(at, fmt::format("expected {}, found a byte order mark", what), "",
                 "save the file as UTF-8 without it");
  if (at == 0 && (source_.text.starts_with("\xFF\xFE") || source_.text.starts_with("\xFE\xFF")))
    return error(at, fmt::format("expected {}, found UTF-16", what), "", "save the file as UTF-8");
  {
    const auto word = peek_word();
    found = fmt::format("'{}'", printable(word.empty() ? source_.text.substr(at, 1) : word, 40));
    if (source_.text[at] == '"') found = "a string";
    if (static_cast<unsigned char>(source_.text[at]) >= 0x80) found = "a character outside ASCII";
  }
  return error(at, fmt::format("expected {}, found {}", what, found), "", std::move(fix));
}

Result<std::string> Lexer::string() {
  const std::size_t at = position();
  if (!adjacent('"')) return expected("a string in double quotes");
  const auto length = json_length(source_.text.substr(at));
  if (length == std::string_view::npos)
    return error(at, "this string does not end", "", "close it with \"");
  auto value = parse_json(source_.text.substr(at, length));
  if (!value || !value->is_string()) {
    return error(at, "this is not a JSON string",
                 "strings are written as in JSON, escapes included");
  }
  at_ += length;
  return value->get<std::string>();
}

Result<std::string> Lexer::name() {
  const std::size_t at = position();
  if (adjacent('"')) return string();
  std::size_t end = at;
  while (end < source_.text.size() && is_bare(source_.text[end])) ++end;
  if (end == at) return expected("a name");
  if (end - at > kMaxToken) return error(at, "this name is too long");
  at_ = end;
  return std::string(source_.text.substr(at, end - at));
}

Result<ast::Number> Lexer::number() {
  const std::size_t at = position();
  if (!sees_number()) return expected("a number");
  const auto text = source_.text;
  const auto digits = [&](std::size_t from) {
    while (from < text.size() && is_digit(text[from])) ++from;
    return from;
  };
  std::size_t end = digits(at + (text[at] == '-' ? 1 : 0));
  if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) end = digits(end + 1);
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    std::size_t exponent = end + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    if (exponent < text.size() && is_digit(text[exponent])) end = digits(exponent);
  }
  const auto spelling = text.substr(at, end - at);
  const auto value = Decimal::parse(spelling);
  if (!value) return error(at, fmt::format("'{}' is not a JSON number", printable(spelling, 40)));
  at_ = end;
  return ast::Number{std::string(spelling), *value};
}

Result<std::string> Lexer::path() {
  const std::size_t at = position();
  if (adjacent('"')) return string();
  std::size_t end = at;
  while (end < source_.text.size() && !ends_path(source_.text[end])) ++end;
  if (end == at)
    return expected("a path", adjacent('{')
                                  ? "a test names one place: write a rule for each, or the folder "
                                    "that holds them all"
                                  : "e.g. ./data, ~/notes or /srv/data");
  if (end - at > kMaxToken) return error(at, "this path is too long");
  at_ = end;
  return std::string(source_.text.substr(at, end - at));
}

Result<std::string> Lexer::regex() {
  const std::size_t at = position();
  if (!take("/")) return expected("a regular expression between slashes", "e.g. re /^[a-z]+$/");
  std::string pattern;
  for (; at_ < source_.text.size() && source_.text[at_] != '\n'; ++at_) {
    const char c = source_.text[at_];
    if (c == '/') {
      ++at_;
      return pattern;
    }
    pattern += c;
    if (c == '\\' && at_ + 1 < source_.text.size()) pattern += source_.text[++at_];
    if (pattern.size() > kMaxToken) return error(at, "this regular expression is too long");
  }
  return error(at, "this regular expression does not end", "", "close it with /");
}

Result<std::string> Lexer::atom(std::string_view what) {
  const std::size_t at = position();
  std::size_t end = at;
  while (end < source_.text.size() &&
         (is_bare(source_.text[end]) ||
          std::string_view(".:*/+").find(source_.text[end]) != std::string_view::npos)) {
    ++end;
  }
  if (end == at) return expected(what);
  if (end - at > kMaxToken) return error(at, fmt::format("this is too long for {}", what));
  at_ = end;
  return std::string(source_.text.substr(at, end - at));
}

Result<Json> Lexer::json_object() {
  const std::size_t at = position();
  if (!adjacent('{')) return expected("a JSON object");
  const auto length = json_length(source_.text.substr(at));
  if (length == std::string_view::npos) return error(at, "this JSON object does not end");
  auto value = parse_call(source_.text.substr(at, length));
  if (!value) return error(at, value.error().what);
  at_ += length;
  return std::move(*value);
}

}  // namespace mcpac::policy
