// SPDX-License-Identifier: Apache-2.0

// Parser: rule texts to values, by recursive descent over the grammar in docs/grants.md.
//
// It accepts exactly that grammar and nothing else: an unknown word is an error with line, column,
// caret, reason and fix. Forms that the grammar leaves open are read so: a path may be a JSON
// string; `host`, `scheme` and `port` take one item or several in braces; a literal is a scalar of
// JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "policy/text/ast.h"
#include "policy/text/lexer.h"

namespace mcpac::policy {

// Argument of --grant, --ask or --deny: targets and clauses, without the effect.
Result<ast::Rule> parse_rule(const SourceText& source, Effect effect);
// One statement about places: `files …`, `network …` or `deny network`, as options make them.
Result<ast::Statement> parse_place(const SourceText& source);
// Layout of a file: the place of each statement, as the printer writes it.
struct Piece {
  enum class Kind : std::uint8_t { kStatement, kOpen, kClose };
  Kind kind = Kind::kStatement;
  ast::Offset begin = 0;
  ast::Offset end = 0;
  std::string text;
};
struct Layout {
  std::vector<Piece> pieces;  // in the order of the file
  std::vector<TextSpan> comments;
};

// A policy file; `layout`, where given, receives its own.
Result<ast::File> parse_file(const SourceText& source, Layout* layout = nullptr);
// The text between the brackets of a rule: the `where` of a narrowed permission.
Result<ast::Brackets> parse_brackets(const SourceText& source);

namespace detail {
// Fix for a list in braces that neither goes on nor ends.
inline constexpr const char* kBetweenItems = "write ',' between the items, and } behind the last";
// The pieces, one file each.
// `effect` is that of the rule, for what an error tells to write; nothing outside of a rule.
Result<ast::Selector> selector(Lexer& lexer, std::optional<Effect> effect = {});
Result<ast::Target> target(Lexer& lexer, Effect effect);
Result<ast::Brackets> brackets(Lexer& lexer);  // up to, not including, ")" or the end
Result<ast::Test> test(Lexer& lexer);
Result<ast::Exception> exception(Lexer& lexer, const std::vector<ast::Test>& tests);
Result<ast::Clauses> clauses(Lexer& lexer);
bool sees_test(Lexer& lexer);
// Behind the word that begins the statement.
Result<ast::FilesGrant> files_grant(Lexer& lexer);
Result<ast::NetworkGrant> network_grant(Lexer& lexer);
// `deny network`, and not a rule over a server of that name.
bool sees_network_deny(Lexer& lexer);
}  // namespace detail

}  // namespace mcpac::policy
