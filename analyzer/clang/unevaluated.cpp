#include "analyzer/clang/unevaluated.h"

#include <string>

#include "analyzer/clang/cx.h"

namespace mcpac::analyzer {
namespace {

// Deeper trees are refused by the walker (rule too-deep).
constexpr unsigned kDeepestOperand = 2000;

bool has_length_at_run_time(CXType type) {
  type = clang_getCanonicalType(type);
  switch (type.kind) {
    case CXType_VariableArray: return true;
    case CXType_MemberPointer: return has_length_at_run_time(clang_getPointeeType(type));
    case CXType_Atomic: return has_length_at_run_time(clang_Type_getValueType(type));
    case CXType_FunctionProto:
      for (int i = 0; i < clang_getNumArgTypes(type); ++i) {
        if (has_length_at_run_time(clang_getArgType(type, static_cast<unsigned>(i)))) return true;
      }
      return has_length_at_run_time(clang_getResultType(type));
    default: break;
  }
  if (is_pointer_like(type)) return has_length_at_run_time(clang_getPointeeType(type));
  const CXType element = clang_getArrayElementType(type);
  return element.kind != CXType_Invalid && has_length_at_run_time(element);
}

bool has_length_at_run_time(CXCursor node, unsigned depth) {
  if (depth > kDeepestOperand || has_length_at_run_time(clang_getCursorType(node))) return true;
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

// The operand of a decltype in the type of what is declared stands before the name of that; what is
// run to initialise it stands behind.
bool is_in_type_of(CXCursor declaration, CXCursor child) {
  const CXCursorKind kind = clang_getCursorKind(declaration);
  const bool declares = kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl ||
                        kind == CXCursor_FieldDecl || kind == CXCursor_FunctionDecl ||
                        kind == CXCursor_CXXMethod;
  if (!declares || clang_isExpression(clang_getCursorKind(child)) == 0) return false;
  const Place name = place_of(declaration);
  const Place from = place_of(clang_getRangeStart(clang_getCursorExtent(child)));
  const Place to = place_of(clang_getRangeEnd(clang_getCursorExtent(child)));
  return from.file == name.file && to.file == name.file && from.offset < to.offset &&
         to.offset < name.offset && !has_length_at_run_time(clang_getCursorType(declaration)) &&
         !has_length_at_run_time(child, 0);
}

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
