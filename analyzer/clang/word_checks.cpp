// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/word_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

// Analysis and compilation are two runs of the preprocessor: what tells the hour makes two programs
// of one text. (__FILE__, __COUNTER__, __OPTIMIZE__ and __has_feature are the same in both.)
constexpr std::array<std::string_view, 3> kClocks{"__TIME__", "__DATE__", "__TIMESTAMP__"};
// No command line of ours defines them, so nothing that is compiled depends on them; their use is
// meant to show another program to an analyzer or an editor.
constexpr std::array<std::string_view, 6> kProbes{"__clang_analyzer__", "__CLANGD__",
                                                  "__INTELLISENSE__",   "__CDT_PARSER__",
                                                  "__JETBRAINS_IDE__",  "__COVERITY__"};
// Words that the analysis must find where they stand; made of pieces they would stand nowhere.
constexpr std::array<std::string_view, 10> kMustBeSpelled{
    "_Pragma", "__pragma",      "template",           "__builtin_bit_cast", "switch",
    "for",     "__has_include", "__has_include_next", "__has_embed",        "__TIME__"};

bool is_name(const Token& token) {
  return token.kind == CXToken_Identifier || token.kind == CXToken_Keyword;
}

bool contains_ignoring_case(std::string_view text, std::string_view lower) {
  return !std::ranges::search(text, lower, [](char a, char b) {
            return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
          }).empty();
}

// ## itself, or the name of a macro of the system's headers that pastes: __CONCAT, _LIBCPP_CONCAT.
bool pastes(const Token& token) {
  if (token.text == "##" || token.text == "%:%:") return true;
  if (!is_name(token)) return false;
  constexpr std::array<std::string_view, 4> kPasters{"concat", "paste", "join", "glue"};
  return std::ranges::any_of(kPasters, [&token](std::string_view part) {
    return contains_ignoring_case(token.text, part);
  });
}

// Whether `word` is two or more of the pieces in a row.
bool can_be_made(std::string_view word, const std::set<std::string_view>& pieces) {
  std::vector<char> reached(word.size() + 1, 0);
  reached[0] = 1;
  for (std::size_t from = 0; from < word.size(); ++from) {
    if (reached[from] == 0) continue;
    for (std::size_t to = from + 1; to <= word.size(); ++to) {
      if (to - from < word.size() && pieces.contains(word.substr(from, to - from))) reached[to] = 1;
    }
  }
  return reached[word.size()] != 0;
}

bool is_member_access(std::string_view text) {
  return text == "." || text == "->" || text == "::";
}

// `class a::b<…>;` and nothing else, so that it is a class and not a function that returns one.
bool is_class_instantiation(const std::vector<Token>& tokens, std::size_t at,
                            const std::set<std::string_view>& macros) {
  const auto text = [&tokens](std::size_t i) {
    return i < tokens.size() ? std::string_view(tokens[i].text) : std::string_view(";");
  };
  if (text(at) != "class" && text(at) != "struct") return false;
  int depth = 0;
  bool closed = false;
  for (++at; at < tokens.size() && text(at) != ";"; ++at) {
    const std::string_view word = text(at);
    if (macros.contains(word) || word == "(" || word == "{") return false;
    if (word == "<") ++depth;
    if (word == ">") --depth;
    if (word == ">>") depth -= 2;
    const bool in_name = depth == 0 && !word.starts_with('>');
    if (in_name && (closed || (!is_name(tokens[at]) && word != "::"))) return false;
    closed = depth == 0 && word.starts_with('>');
  }
  return closed;
}

// `template` without a list of parameters makes an instantiation, whose arguments may name what is
// private; of a class the parser shows them, of functions and variables nothing at all.
void check_instantiation(const std::vector<Token>& tokens, std::size_t at,
                         const std::set<std::string_view>& macros, Findings& findings) {
  if (tokens[at].text != "template") return;
  const bool ends =
      at + 1 == tokens.size() || (tokens[at].in_directive && tokens[at + 1].first_on_line);
  const std::string_view before = at == 0 ? "" : std::string_view(tokens[at - 1].text);
  if ((!ends && tokens[at + 1].text == "<") || is_member_access(before)) return;
  if (!ends && !tokens[at].in_directive && is_class_instantiation(tokens, at + 1, macros)) return;
  findings.add("explicit-instantiation", tokens[at].place,
               "the arguments of this instantiation cannot be read",
               "remove it; templates are instantiated where they are used");
}

void check_import(const std::vector<Token>& tokens, std::size_t at, Findings& findings) {
  const Token& token = tokens[at];
  const bool statement = token.first_on_line && !token.in_directive && at + 1 < tokens.size();
  if (!statement || (token.text != "import" && token.text != "module")) return;
  const Token& next = tokens[at + 1];
  const bool named = next.kind == CXToken_Identifier || next.kind == CXToken_Literal ||
                     next.text == "<" || next.text == ";" || next.text == ":";
  if (!named) return;
  findings.add("module-import", token.place, "a module is compiled elsewhere and not analysed here",
               "#include the header");
}

// Checks that look for a sign do not find one that a backslash parts.
bool is_spliced(const Token& token) {
  return token.kind == CXToken_Punctuation && token.text.contains('\\');
}

}  // namespace

void check_words(const std::vector<Token>& tokens, Findings& findings) {
  const auto macros = macros_of(tokens);
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const Token& token = tokens[at];
    if (is_spliced(token)) {
      findings.add("pasted-word", token.place, "a line ends in the middle of this sign",
                   "write signs on one line");
    }
    if (!is_name(token)) continue;
    if (among(kClocks, token.text)) {
      findings.add("build-clock", token.place,
                   fmt::format("`{}` is another text when the program is compiled", token.text),
                   "ask std::chrono at run time");
    }
    if (among(kProbes, token.text)) {
      findings.add("analysis-probe", token.place,
                   fmt::format("`{}` asks who is reading", token.text), "remove the condition");
    }
    if (token.text == "__builtin_bit_cast") {
      findings.add("code-pointer", token.place, "the parser does not show what this makes of bytes",
                   "use std::bit_cast");
    }
    check_instantiation(tokens, at, macros, findings);
    check_import(tokens, at, findings);
  }
}

void check_pasting(const std::vector<Token>& tokens, Findings& findings) {
  const auto paster = std::ranges::find_if(tokens, pastes);
  if (paster == tokens.end()) return;
  std::set<std::string_view> pieces;
  for (const Token& token : tokens) {
    if (token.kind != CXToken_Comment) pieces.insert(token.text);
  }
  for (const std::string_view word : kMustBeSpelled) {
    if (!can_be_made(word, pieces)) continue;
    findings.add("pasted-word", paster->place,
                 fmt::format("the pieces that stand here can be pasted to `{}`", word),
                 "write words out");
  }
}

}  // namespace mcpac::analyzer
