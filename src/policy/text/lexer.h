// SPDX-License-Identifier: Apache-2.0

// Lexer: reads one rule text token by token, each in the form that the parser asks for.
//
// The language has forms that no single token rule can tell apart (a path, a network, a time, a
// number before ".."), so the parser says what it expects here and the lexer either reads exactly
// that or says where and why not. Bounded: texts over 1 MiB are refused before the first byte is
// read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "policy/text/ast.h"
#include "policy/text/source_text.h"

namespace mcpac::policy {

// Start and end of something in its text.
struct TextSpan {
  ast::Offset begin = 0;
  ast::Offset end = 0;
};

class Lexer {
 public:
  static constexpr std::size_t kMaxText = std::size_t{1}
                                          << 20U;  // a policy file that people can review

  explicit Lexer(SourceText source) : source_(std::move(source)) {}

  // All skip blanks and comments first.
  [[nodiscard]] std::size_t position();
  [[nodiscard]] bool at_end();
  [[nodiscard]] bool take(std::string_view punctuation);  // true and past it, or nothing happens
  [[nodiscard]] bool sees(std::string_view punctuation);
  // The bare word here ([A-Za-z_][A-Za-z0-9_-]*), without taking it; empty where there is none.
  [[nodiscard]] std::string_view peek_word();
  [[nodiscard]] bool take_word(std::string_view word);
  [[nodiscard]] bool sees_name();
  [[nodiscard]] bool sees_number();
  // Is the next byte, with no blank before it, this one?
  [[nodiscard]] bool adjacent(char c) const {
    return at_ < source_.text.size() && source_.text[at_] == c;
  }

  Result<std::string> name();    // [A-Za-z0-9_-]+ or a JSON string
  Result<std::string> string();  // a JSON string
  Result<ast::Number> number();  // leaves a ".." behind it alone
  Result<std::string> path();    // bare up to a blank or one of ,(){}", or a JSON string
  Result<std::string> regex();   // what stands between two slashes, raw
  Result<std::string> atom(
      std::string_view what);  // a run of [A-Za-z0-9._:*/+-]: hosts, networks, times
  Result<Json> json_object();

  [[nodiscard]] std::unexpected<Error> error(std::size_t at, std::string what, std::string why = "",
                                             std::string fix = "") const {
    return source_.error(ErrorId::kRuleSyntax, at, std::move(what), std::move(why), std::move(fix));
  }
  // "expected …, found …" at the current place.
  [[nodiscard]] std::unexpected<Error> expected(std::string_view what, std::string fix = "");
  [[nodiscard]] const SourceText& source() const { return source_; }
  // One past the last token that was taken.
  [[nodiscard]] std::size_t token_end() const { return at_ > skipped_to_ ? at_ : token_end_; }
  // The comments met so far, each without its line break.
  [[nodiscard]] const std::vector<TextSpan>& comments() const { return comments_; }

 private:
  void skip();
  SourceText source_;
  std::size_t at_ = 0;
  std::size_t skipped_to_ = 0;
  std::size_t token_end_ = 0;
  std::vector<TextSpan> comments_;
};

}  // namespace mcpac::policy
