#include "analyzer/clang/hidden.h"

#include <string>
#include <vector>

namespace mcpac::analyzer {
namespace {

std::vector<std::string> words_of(CXTranslationUnit unit, CXCursor node) {
  CXToken* tokens = nullptr;
  unsigned count = 0;
  clang_tokenize(unit, clang_getCursorExtent(node), &tokens, &count);
  std::vector<std::string> words;
  for (unsigned i = 0; i < count; ++i)
    words.push_back(take(clang_getTokenSpelling(unit, tokens[i])));
  clang_disposeTokens(unit, tokens, count);
  return words;
}

}  // namespace

void HiddenChecker::on_node(CXCursor node, CXCursor, const Scope&) {
  if (clang_getCursorKind(node) != CXCursor_UnexposedDecl || !children(node).empty()) return;
  const auto words = words_of(unit_, node);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    // The declaration's own semicolon is the last word, if any: another one ends a statement.
    if (words[i] != ";" && identity_.permissions_named(words[i]).empty()) continue;
    findings_.add("hidden-body", node, "what this declaration does cannot be analysed",
                  "write it as a function template");
    return;
  }
}

}  // namespace mcpac::analyzer
