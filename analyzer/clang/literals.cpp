#include "analyzer/clang/literals.h"

#include <memory>

namespace mcpac::analyzer {
namespace {

struct Dispose {
  void operator()(void* result) const { clang_EvalResult_dispose(result); }
};
using Evaluated = std::unique_ptr<void, Dispose>;

bool is_narrow_character(CXType type) {
  const CXTypeKind kind = clang_getCanonicalType(type).kind;
  return kind == CXType_Char_S || kind == CXType_Char_U || kind == CXType_SChar ||
         kind == CXType_UChar;
}

bool is_unsigned(CXTypeKind kind) {
  return kind == CXType_UChar || kind == CXType_UShort || kind == CXType_UInt ||
         kind == CXType_ULong || kind == CXType_ULongLong;
}

bool is_integer(CXTypeKind kind) {
  return is_unsigned(kind) || kind == CXType_Short || kind == CXType_Int || kind == CXType_Long ||
         kind == CXType_LongLong;
}

}  // namespace

std::optional<std::string> literal_text(CXCursor literal) {
  if (clang_getCursorKind(literal) != CXCursor_StringLiteral) return std::nullopt;
  const CXType type = clang_getCanonicalType(clang_getCursorType(literal));
  if (!is_narrow_character(clang_getArrayElementType(type))) return std::nullopt;
  const Evaluated value(clang_Cursor_Evaluate(literal));
  if (!value || clang_EvalResult_getKind(value.get()) != CXEval_StrLiteral) return std::nullopt;
  const char* chars = clang_EvalResult_getAsStr(value.get());
  if (chars == nullptr) return std::nullopt;
  std::string text = chars;
  if (static_cast<long long>(text.size()) + 1 != clang_getArraySize(type)) return std::nullopt;
  return text;
}

std::optional<std::string> constant_text(CXCursor variable) {
  if (!is_constant_variable(variable)) return std::nullopt;
  const CXCursor initialiser = clang_Cursor_getVarDeclInitializer(variable);
  if (!exists(initialiser)) return std::nullopt;
  const CXCursor stripped = strip(initialiser);
  if (clang_getCursorKind(stripped) != CXCursor_DeclRefExpr) return literal_text(stripped);
  const CXCursor other = clang_getCursorReferenced(stripped);
  // Bounded by the source: a constant can only be initialised by one that stands before it.
  if (!exists(other) || same(other, variable)) return std::nullopt;
  return clang_getCursorKind(other) == CXCursor_VarDecl ? constant_text(other) : std::nullopt;
}

std::optional<Number> constant_number(CXCursor expression) {
  const CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(expression)).kind;
  const bool real = kind == CXType_Float || kind == CXType_Double;
  if (!real && kind != CXType_Bool && !is_integer(kind)) return std::nullopt;
  const Evaluated value(clang_Cursor_Evaluate(expression));
  if (!value) return std::nullopt;
  const CXEvalResultKind result = clang_EvalResult_getKind(value.get());
  if (real && result == CXEval_Float) return clang_EvalResult_getAsDouble(value.get());
  if (real || result != CXEval_Int) return std::nullopt;
  if (kind == CXType_Bool) return clang_EvalResult_getAsLongLong(value.get()) != 0;
  if (is_unsigned(kind)) return std::uint64_t{clang_EvalResult_getAsUnsigned(value.get())};
  return std::int64_t{clang_EvalResult_getAsLongLong(value.get())};
}

bool is_constant_variable(CXCursor variable) {
  if (clang_getCursorKind(variable) != CXCursor_VarDecl) return false;
  const CXType type = clang_getCanonicalType(clang_getCursorType(variable));
  if (clang_isConstQualifiedType(type) != 0) return true;
  const CXType element = clang_getArrayElementType(type);
  return element.kind != CXType_Invalid && clang_isConstQualifiedType(element) != 0;
}

}  // namespace mcpac::analyzer
