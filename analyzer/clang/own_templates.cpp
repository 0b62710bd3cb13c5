#include "analyzer/clang/own_templates.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "analyzer/clang/cx.h"
#include "analyzer/clang/kinds.h"
#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

using namespace std::string_view_literals;
using Words = std::vector<std::string_view>;

constexpr std::array kTemplates{"template"sv,    "concept"sv, "requires"sv,
                                "__auto_type"sv, "##"sv,      "%:%:"sv};
constexpr std::array kSpecifiers{"const"sv,  "constexpr"sv, "constinit"sv,    "static"sv,
                                 "inline"sv, "volatile"sv,  "thread_local"sv, "extern"sv};
// What stands before the `auto` of a variable, or of a function's result.
constexpr std::array kBeforeVariables{";"sv, "{"sv, "}"sv, "->"sv};
// `(` after one of these opens no list of parameters.
constexpr std::array kStatements{"for"sv, "if"sv, "while"sv, "switch"sv, "decltype"sv};

// Whether the `auto` at `at` may be the type of a parameter.
bool may_be_parameter(const Words& words, std::size_t at) {
  while (at > 0 && among(kSpecifiers, words[at - 1])) --at;
  if (at == 0 || among(kBeforeVariables, words[at - 1])) return false;
  return words[at - 1] != "(" || at < 2 || !among(kStatements, words[at - 2]);
}

bool may_declare(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (among(kTemplates, words[i])) return true;
    if (words[i] == "auto" && may_be_parameter(words, i)) return true;
    const bool closes = words[i] == "]" || words[i] == ":>";
    if (closes && i + 1 < words.size() && words[i + 1].starts_with('<')) return true;
  }
  return false;
}

std::size_t end_of(std::string_view text, std::size_t at) {
  const auto after = [text, at](std::string_view end) {
    const auto found = text.find(end, at + end.size());
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (text.substr(at).starts_with("//")) return after("\n");
  if (text.substr(at).starts_with("/*")) return after("*/");
  if (text.substr(at).starts_with("->") || text.substr(at).starts_with("##")) return at + 2;
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return std::max(end, at + 1);
}

// Words and signs, near enough: nothing but time depends on it.
Words words_of(std::string_view text) {
  Words words;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    end = end_of(text, at);
    const bool skipped = std::isspace(static_cast<unsigned char>(text[at])) != 0 ||
                         (text[at] == '/' && end - at > 1);
    if (!skipped) words.push_back(text.substr(at, end - at));
  }
  return words;
}

bool is_template(CXCursorKind kind) {
  return is_template_with_body(kind) || is_template_parameter(kind) ||
         kind == CXCursor_TypeAliasTemplateDecl || kind == CXCursor_ConceptDecl;
}

CXChildVisitResult look_for_template(CXCursor cursor, CXCursor, CXClientData found) {
  // The type of a generic lambda's parameter is a template parameter that stands nowhere else.
  const bool refers = clang_getCursorKind(cursor) == CXCursor_TypeRef &&
                      is_template(clang_getCursorKind(clang_getCursorReferenced(cursor)));
  if (!refers && !is_template(clang_getCursorKind(cursor))) return CXChildVisit_Recurse;
  *static_cast<bool*>(found) = true;
  return CXChildVisit_Break;
}

}  // namespace

bool looks_templated(std::string_view text) {
  return may_declare(words_of(text));
}

bool may_declare_templates(const std::vector<Token>& tokens) {
  Words program;
  Words directives;
  for (const Token& token : tokens)
    (token.in_directive ? directives : program).emplace_back(token.text);
  // A macro may put an `auto` anywhere.
  return may_declare(program) || may_declare(directives) ||
         std::ranges::find(directives, "auto"sv) != directives.end();
}

bool has_templates(CXTranslationUnit unit, const Sources& sources) {
  bool found = false;
  each_child(clang_getTranslationUnitCursor(unit), [&](CXCursor node) {
    const Home home = sources.home(node);
    if (found || home == Home::kHeaders || home == Home::kSystem) return;
    found = is_template(clang_getCursorKind(node));
    if (!found) clang_visitChildren(node, look_for_template, &found);
  });
  return found;
}

}  // namespace mcpac::analyzer
