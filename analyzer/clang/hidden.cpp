// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/hidden.h"

#include "analyzer/clang/tokens.h"

namespace mcpac::analyzer {

void HiddenChecker::on_node(CXCursor node, CXCursor, const Scope&) {
  if (clang_getCursorKind(node) != CXCursor_UnexposedDecl || !children(node).empty()) return;
  const auto words = words_of(node);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    // The declaration's own semicolon is the last word, if any: another one ends a statement.
    if (words[i] != ";" && identity_.permissions_named(words[i]).empty()) continue;
    findings_.add("hidden-body", node, "what this declaration does cannot be analysed",
                  "write it as a function template");
    return;
  }
}

}  // namespace mcpac::analyzer
