// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/literals.h"

#include <cmath>
#include <memory>
#include <string_view>

#include "analyzer/clang/constancy.h"
#include "analyzer/clang/text_checks.h"

namespace mcpac::analyzer {
namespace {

struct Dispose {
  void operator()(void* result) const { clang_EvalResult_dispose(result); }
};
using Evaluated = std::unique_ptr<void, Dispose>;

char simple_escape(char c) {
  switch (c) {
    case 'a': return '\a';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'v': return '\v';
    default: return c;
  }
}

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

// What clang prints for a literal of char: quotes, C escapes, three octal digits for the rest.
// Literals with a prefix (wide, UTF-16, …) and those with a NUL are nothing.
std::optional<std::string> unescaped(std::string_view quoted) {
  if (quoted.size() < 2 || quoted.front() != '"' || quoted.back() != '"') return std::nullopt;
  quoted = quoted.substr(1, quoted.size() - 2);
  std::string text;
  while (!quoted.empty()) {
    if (quoted.front() != '\\') {
      text.push_back(quoted.front());
      quoted.remove_prefix(1);
      continue;
    }
    if (quoted.size() < 2 || quoted[1] == 'x' || quoted[1] == 'u' || quoted[1] == 'U')
      return std::nullopt;
    if (!is_octal(quoted[1])) {
      text.push_back(simple_escape(quoted[1]));
      quoted.remove_prefix(2);
      continue;
    }
    unsigned code = 0;
    quoted.remove_prefix(1);
    for (int i = 0; i < 3 && !quoted.empty() && is_octal(quoted.front()); ++i) {
      code = code * 8 + static_cast<unsigned>(quoted.front() - '0');
      quoted.remove_prefix(1);
    }
    if (code == 0 || code > 0xFF) return std::nullopt;
    text.push_back(static_cast<char>(code));
  }
  return text;
}

bool is_view(CXType type) {
  return qualified_name(clang_getTypeDeclaration(clang_getCanonicalType(type))) ==
         "std::basic_string_view";
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
  // Evaluating would cut the text at a NUL; the spelling is clang's own, with C escapes.
  auto text = unescaped(spelling(literal));
  if (text && !is_utf8(*text)) return std::nullopt;
  return text;
}

std::optional<std::string> constant_text(CXCursor variable) {
  if (!is_never_assigned(variable)) return std::nullopt;
  const CXCursor initialiser = clang_Cursor_getVarDeclInitializer(variable);
  if (!exists(initialiser)) return std::nullopt;
  CXCursor stripped = strip(initialiser);
  if (is_view(clang_getCursorType(variable)) &&
      clang_getCursorKind(stripped) == CXCursor_CallExpr) {
    const auto operands = children(stripped);
    if (operands.size() == 1) stripped = strip(operands.front());
  }
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
  if (real && result == CXEval_Float) {
    const double number = clang_EvalResult_getAsDouble(value.get());
    // JSON knows no others.
    return std::isfinite(number) ? std::optional<Number>(number) : std::nullopt;
  }
  if (real || result != CXEval_Int) return std::nullopt;
  if (kind == CXType_Bool) return clang_EvalResult_getAsLongLong(value.get()) != 0;
  if (is_unsigned(kind)) return std::uint64_t{clang_EvalResult_getAsUnsigned(value.get())};
  return std::int64_t{clang_EvalResult_getAsLongLong(value.get())};
}

std::optional<char> constant_char(CXCursor expression) {
  const CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(expression)).kind;
  if (kind != CXType_Char_S) return std::nullopt;
  const Evaluated value(clang_Cursor_Evaluate(expression));
  if (!value || clang_EvalResult_getKind(value.get()) != CXEval_Int) return std::nullopt;
  const int code = clang_EvalResult_getAsInt(value.get());
  return code > 0 && code < 0x80 ? std::optional(static_cast<char>(code)) : std::nullopt;
}

}  // namespace mcpac::analyzer
