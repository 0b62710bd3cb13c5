// SPDX-License-Identifier: Apache-2.0

// The headers of `for` and `switch`: what a program says before a semicolon in them.
#include <set>
#include <string_view>

#include "analyzer/clang/word_checks.h"
#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

constexpr std::string_view kNumberTypes =
    " const std :: auto bool char short int long signed unsigned float double size_t ptrdiff_t "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t ";

// The macros of the program that bring a semicolon with them.
std::set<std::string_view> macros_with_semicolon(const std::vector<Token>& tokens) {
  std::set<std::string_view> macros;
  std::string_view name;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (!tokens[at].in_directive || tokens[at].first_on_line) name = {};
    if (tokens[at].in_directive && tokens[at].text == "define" && at + 1 < tokens.size())
      name = tokens[at + 1].text;
    if (!name.empty() && tokens[at].text == ";") macros.insert(name);
  }
  return macros;
}

// 2, 0x10U, 1.5: a suffix of the program's own would call its function.
bool is_plain_number(const Token& token) {
  constexpr std::string_view kDigits = "0123456789abcdefABCDEFxX.'uUlLzZ";
  return token.kind == CXToken_Literal && token.text.front() >= '0' && token.text.front() <= '9' &&
         token.text.find_first_not_of(kDigits) == std::string::npos;
}

// `int k = 2`, `std::size_t i{0}`, `const auto end = -1`: a number that gets a name does nothing
// else, so nothing is hidden by not being shown. From `from` up to the semicolon.
bool only_names_number(const std::vector<Token>& tokens, std::size_t from,
                       const std::set<std::string_view>& macros) {
  std::size_t at = from;
  const auto word = [&] {
    return at < tokens.size() ? std::string_view(tokens[at].text) : std::string_view();
  };
  bool typed = false;
  for (; has_word(kNumberTypes, word()); ++at) {
    // `long` is the whole type, `std::` is not.
    typed = word() != "const" && word() != "std" && word() != "::" ? true : typed;
  }
  if (!typed || at >= tokens.size() || tokens[at].kind != CXToken_Identifier ||
      macros.contains(word()))
    return false;
  ++at;
  const bool braces = word() == "{";
  if (!braces && word() != "=") return false;
  ++at;
  if (word() == "-") ++at;
  if (at >= tokens.size() || !is_plain_number(tokens[at])) return false;
  ++at;
  if (braces && word() != "}") return false;
  if (braces) ++at;
  return word() == ";";
}

// What stands between a `(` and its end, as far as a header or a list of arguments could.
struct Brackets {
  std::size_t semicolons = 0;  // outside of braces: those of a lambda's body end nothing here
  bool closed = false;
  bool names_ender = false;  // a macro that brings a semicolon with it
  bool names_any = false;
};

Brackets brackets_at(const std::vector<Token>& tokens, std::size_t open,
                     const std::set<std::string_view>& enders) {
  Brackets found;
  std::size_t depth = 0;
  std::size_t braces = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string_view word = tokens[i].text;
    if (tokens[open].in_directive && tokens[i].first_on_line) return found;
    if (opens(word)) ++depth;
    if (word == "{") ++braces;
    if (word == "}" && braces > 0) --braces;
    if (word == ";" && braces == 0) ++found.semicolons;
    found.names_ender = found.names_ender || enders.contains(word);
    found.names_any = found.names_any || tokens[i].kind == CXToken_Identifier;
    if (closes(word) && --depth == 0) {
      found.closed = true;
      return found;
    }
  }
  return found;
}

// A name with a semicolon among its arguments is a macro, and its text may stand in a header.
bool hands_semicolons_to_macros(const std::vector<Token>& tokens) {
  for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
    if (tokens[at].kind != CXToken_Identifier || tokens[at + 1].text != "(") continue;
    if (brackets_at(tokens, at + 1, {}).semicolons > 0) return true;
  }
  return false;
}

struct Program {
  std::set<std::string_view> enders;
  std::set<std::string_view> macros;
  bool hands_semicolons = false;
};

// `switch (x; y)` and `for (x; y : z)`: libclang does not show what x does.
bool hides_statement(const std::vector<Token>& tokens, std::size_t at, const Program& program) {
  const bool ends =
      at + 1 >= tokens.size() || (tokens[at].in_directive && tokens[at + 1].first_on_line);
  // A macro makes the header, or the header of a macro's name is made elsewhere.
  if (ends || tokens[at + 1].text != "(") return true;
  const Brackets header = brackets_at(tokens, at + 1, program.enders);
  if (!header.closed || header.names_ender) return true;
  // Arguments come to the headers that a macro writes.
  if (tokens[at].in_directive && program.hands_semicolons && header.names_any) return true;
  if (header.semicolons == 1 && !tokens[at].in_directive &&
      only_names_number(tokens, at + 2, program.macros))
    return false;
  const std::size_t usual = tokens[at].text == "for" ? 2 : 0;
  return header.semicolons != 0 && header.semicolons != usual;
}

bool in_definition(const std::vector<Token>& tokens, std::size_t at) {
  while (at > 0 && !tokens[at].first_on_line) --at;
  return at + 1 < tokens.size() && tokens[at + 1].text == "define";
}

}  // namespace

void check_headers(const std::vector<Token>& tokens, Findings& findings) {
  const Program program{macros_with_semicolon(tokens), macros_of(tokens),
                        hands_semicolons_to_macros(tokens)};
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    const Token& token = tokens[at];
    if (token.text != "for" && token.text != "switch") continue;
    if (token.in_directive && !in_definition(tokens, at)) continue;
    if (!hides_statement(tokens, at, program)) continue;
    findings.add("hidden-body", token.place,
                 "the parser does not show what stands before the semicolon",
                 "write it as a statement of its own, and the header without macros");
  }
}

}  // namespace mcpac::analyzer
