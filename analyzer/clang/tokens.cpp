// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/tokens.h"

namespace mcpac::analyzer {
namespace {

bool is_hash(const Token& token) {
  return token.text == "#" || token.text == "%:";
}

// Whether a new line starts between two offsets: a line feed that no backslash splices away.
bool new_line_between(std::string_view text, std::size_t from, std::size_t to) {
  for (std::size_t at = text.find('\n', from); at < to; at = text.find('\n', at + 1)) {
    std::size_t before = at;
    while (before > from &&
           (text[before - 1] == '\r' || text[before - 1] == ' ' || text[before - 1] == '\t')) {
      --before;
    }
    if (before == from || text[before - 1] != '\\') return true;
  }
  return false;
}

void mark_lines(std::vector<Token>& tokens, std::string_view text) {
  std::size_t end = 0;
  bool directive = false;
  for (Token& token : tokens) {
    token.first_on_line = end == 0 || new_line_between(text, end, token.place.offset);
    if (token.first_on_line) directive = is_hash(token);
    token.in_directive = directive;
    end = token.place.offset + token.text.size();
  }
}

// Every token of the file whose kind `is_wanted`.
template <class Wanted>
std::vector<Token> lex(CXTranslationUnit unit, CXFile file, std::size_t size, Wanted is_wanted) {
  const CXSourceRange whole =
      clang_getRange(clang_getLocationForOffset(unit, file, 0),
                     clang_getLocationForOffset(unit, file, static_cast<unsigned>(size)));
  CXToken* raw = nullptr;
  unsigned count = 0;
  clang_tokenize(unit, whole, &raw, &count);
  std::vector<Token> tokens;
  tokens.reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    const CXTokenKind kind = clang_getTokenKind(raw[i]);
    if (!is_wanted(kind)) continue;
    tokens.push_back({kind, take(clang_getTokenSpelling(unit, raw[i])),
                      place_of(clang_getTokenLocation(unit, raw[i])), false, false});
  }
  clang_disposeTokens(unit, raw, count);
  return tokens;
}

}  // namespace

bool opens(std::string_view word) {
  return word == "(" || word == "{" || word == "[" || word == "<%" || word == "<:";
}

bool closes(std::string_view word) {
  return word == ")" || word == "}" || word == "]" || word == "%>" || word == ":>";
}

std::set<std::string_view> macros_of(const std::vector<Token>& tokens) {
  std::set<std::string_view> macros;
  for (std::size_t at = 0; at + 1 < tokens.size(); ++at) {
    if (tokens[at].in_directive && tokens[at].text == "define") macros.insert(tokens[at + 1].text);
  }
  return macros;
}

std::vector<std::string> words_of(CXCursor node) {
  const CXTranslationUnit unit = clang_Cursor_getTranslationUnit(node);
  CXToken* tokens = nullptr;
  unsigned count = 0;
  clang_tokenize(unit, clang_getCursorExtent(node), &tokens, &count);
  std::vector<std::string> words;
  words.reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    if (clang_getTokenKind(tokens[i]) != CXToken_Comment)
      words.push_back(take(clang_getTokenSpelling(unit, tokens[i])));
  }
  clang_disposeTokens(unit, tokens, count);
  return words;
}

std::vector<Token> tokens_of(CXTranslationUnit unit, CXFile file) {
  std::size_t size = 0;
  const char* content = clang_getFileContents(unit, file, &size);
  if (content == nullptr) return {};
  auto tokens = lex(unit, file, size, [](CXTokenKind kind) { return kind != CXToken_Comment; });
  mark_lines(tokens, std::string_view(content, size));
  return tokens;
}

std::vector<Token> comments_of(CXTranslationUnit unit, CXFile file) {
  std::size_t size = 0;
  const char* content = clang_getFileContents(unit, file, &size);
  if (content == nullptr ||
      std::string_view(content, size).find("mcpac-allow") == std::string_view::npos)
    return {};
  return lex(unit, file, size, [](CXTokenKind kind) { return kind == CXToken_Comment; });
}

}  // namespace mcpac::analyzer
