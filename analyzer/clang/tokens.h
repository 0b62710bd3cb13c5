// SPDX-License-Identifier: Apache-2.0

// Tokens: one file of the program as clang's lexer sees it, with the directives in it.
//
// Lexed without the preprocessor, so text in skipped #if branches is seen as well: what is only
// compiled under another flag must not hide from a reader.
#pragma once

#include <clang-c/Index.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/clang/cx.h"

namespace mcpac::analyzer {

struct Token {
  CXTokenKind kind = CXToken_Punctuation;
  std::string text;
  Place place;
  bool first_on_line = false;
  bool in_directive = false;  // between a # that starts a line and the end of that (spliced) line
};

// Brackets of every kind, also as digraphs; angle ones are operators as often.
[[nodiscard]] bool opens(std::string_view word);
[[nodiscard]] bool closes(std::string_view word);

// Without comments.
[[nodiscard]] std::vector<Token> tokens_of(CXTranslationUnit unit, CXFile file);
// The names of the macros that these tokens define; borrowed from them.
[[nodiscard]] std::set<std::string_view> macros_of(const std::vector<Token>& tokens);
// The words that a declaration or an expression is written in, as the lexer reads them.
[[nodiscard]] std::vector<std::string> words_of(CXCursor node);
// Nothing but the comments, with their slashes.
[[nodiscard]] std::vector<Token> comments_of(CXTranslationUnit unit, CXFile file);

}  // namespace mcpac::analyzer
