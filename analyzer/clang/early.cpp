#include "analyzer/clang/early.h"

#include <fmt/format.h>

namespace mcpac::analyzer {
namespace {

// Below this the walker itself has refused the program.
constexpr unsigned kMaxDepth = 2000;

// A variable that is made before the entry runs: of a namespace, or a static member.
bool is_global(CXCursor variable, const Scope& scope) {
  return clang_getCursorKind(variable) == CXCursor_VarDecl && scope.function.empty();
}

// constexpr and constinit variables have their values before anything runs.
bool is_constant(CXCursor variable) {
  const CXTranslationUnit unit = clang_Cursor_getTranslationUnit(variable);
  CXToken* tokens = nullptr;
  unsigned count = 0;
  clang_tokenize(unit, clang_getCursorExtent(variable), &tokens, &count);
  bool constant = false;
  for (unsigned i = 0; i < count && !constant; ++i) {
    const std::string word = take(clang_getTokenSpelling(unit, tokens[i]));
    constant = word == "constexpr" || word == "constinit";
    if (word == "=" || word == "{" || word == "(") break;
  }
  clang_disposeTokens(unit, tokens, count);
  return constant;
}

}  // namespace

void EarlyChecker::search(CXCursor global, CXCursor node, unsigned depth) {
  // What a lambda holds runs when somebody calls it.
  if (depth > kMaxDepth || clang_getCursorKind(node) == CXCursor_LambdaExpr) return;
  if (clang_getCursorKind(node) == CXCursor_CallExpr) {
    const CXCursor function = clang_getCursorReferenced(node);
    if (exists(function) && identity_.called_permission(function)) {
      findings_.add("early-call", node,
                    fmt::format("`{}` calls a tool before the entry has begun", spelling(global)),
                    "call it in the entry: here an error ends the program without a word");
    } else if (exists(function) && sources_.home(function) == Home::kProgram) {
      findings_.add(
          "early-code", node,
          fmt::format("the program runs code before its entry, for `{}`", spelling(global)), "");
    }
  }
  each_child(node, [&](CXCursor child) { search(global, child, depth + 1); });
}

void EarlyChecker::on_node(CXCursor node, CXCursor, const Scope& scope) {
  if (!is_global(node, scope) || scope.in_template || is_constant(node)) return;
  each_child(node, [&](CXCursor child) { search(node, child, 0); });
}

}  // namespace mcpac::analyzer
