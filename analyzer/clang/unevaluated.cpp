#include "analyzer/clang/unevaluated.h"

#include <string>

#include "analyzer/clang/cx.h"

namespace mcpac::analyzer {
namespace {

// Deeper trees are refused by the walker (rule too-deep).
constexpr unsigned kMaxDepth = 2000;

bool has_length_at_run_time(CXType type) {
  for (;;) {
    type = clang_getCanonicalType(type);
    if (type.kind == CXType_VariableArray) return true;
    if (is_pointer_like(type)) {
      type = clang_getPointeeType(type);
    } else if (clang_getArrayElementType(type).kind != CXType_Invalid) {
      type = clang_getArrayElementType(type);
    } else {
      return false;
    }
  }
}

bool has_length_at_run_time(CXCursor node, unsigned depth) {
  if (depth > kMaxDepth || has_length_at_run_time(clang_getCursorType(node))) return true;
  bool found = false;
  each_child(node,
             [&](CXCursor child) { found = found || has_length_at_run_time(child, depth + 1); });
  return found;
}

// Of sizeof an expression, not a type: that begins behind the word itself.
bool is_of_expression(CXCursor node, CXCursor operand) {
  const CXTranslationUnit unit = clang_Cursor_getTranslationUnit(node);
  CXToken* tokens = nullptr;
  unsigned count = 0;
  clang_tokenize(unit, clang_getCursorExtent(node), &tokens, &count);
  bool fits = false;
  if (count > 1) {
    const std::string word = take(clang_getTokenSpelling(unit, tokens[0]));
    const unsigned second = place_of(clang_getTokenLocation(unit, tokens[1])).offset;
    const unsigned begin = place_of(clang_getRangeStart(clang_getCursorExtent(operand))).offset;
    fits = word == "noexcept" || (word == "sizeof" && second == begin);
  }
  clang_disposeTokens(unit, tokens, count);
  return fits;
}

}  // namespace

bool is_never_run(CXCursor node) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (kind == CXCursor_TypeAliasDecl || kind == CXCursor_TypedefDecl)
    return !has_length_at_run_time(clang_getTypedefDeclUnderlyingType(node));
  if (kind != CXCursor_UnaryExpr || is_from_macro(node)) return false;
  const auto operands = expressions_of(node);
  return operands.size() == 1 && children(node).size() == 1 && !is_from_macro(operands.front()) &&
         is_of_expression(node, operands.front()) && !has_length_at_run_time(operands.front(), 0);
}

}  // namespace mcpac::analyzer
