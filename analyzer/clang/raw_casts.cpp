// SPDX-License-Identifier: Apache-2.0

// The casts and conversions of RawBytesChecker: an object looked at as something else.
#include <algorithm>
#include <string>
#include <string_view>

#include "analyzer/clang/raw_bytes.h"
#include "analyzer/clang/reach.h"

namespace mcpac::analyzer {
namespace {

// They give memory that holds nothing yet. (What a memory_resource gives may be a buffer of the
// program.)
constexpr std::string_view kAllocators = " malloc aligned_alloc calloc ";
constexpr std::string_view kNew = " operator new operator new[] ";

bool is_null(CXCursor operand) {
  const CXCursor plain = strip(operand);
  return clang_getCanonicalType(clang_getCursorType(plain)).kind == CXType_NullPtr ||
         clang_getCursorKind(plain) == CXCursor_GNUNullExpr;
}

// The function type that a pointer or a reference leads to; kind CXType_Invalid where it is data.
CXType code_type(CXType type) {
  type = clang_getCanonicalType(type);
  const bool leads = is_pointer_like(type) || type.kind == CXType_MemberPointer;
  const CXType to = leads ? clang_getCanonicalType(clang_getPointeeType(type)) : type;
  return is_function(to) ? to : CXType{CXType_Invalid, {nullptr, nullptr}};
}

// Through any number of pointers: *reinterpret_cast<void (**)()>(&number) is called as well.
bool leads_to_function(CXType type) {
  type = clang_getCanonicalType(type);
  while (is_pointer_like(type) && code_type(type).kind == CXType_Invalid) type = pointee(type);
  return !is_function(type) && code_type(type).kind != CXType_Invalid;
}

// An address of code that is no function's own, or one of another type; a cast that only chooses
// among overloads gives the function itself.
bool computes_address(CXCursor cast, CXType to, CXType from) {
  const bool same_code = code_type(from).kind != CXType_Invalid &&
                         clang_equalTypes(code_type(to), code_type(from)) != 0;
  return leads_to_function(to) && clang_getCursorKind(cast) != CXCursor_CXXStaticCastExpr &&
         !same_code && !is_same(to, from);
}

// Whether an expression is an object that a cast to a reference would look at: the value of one has
// a conversion around it.
bool is_object(CXCursor expression) {
  while (clang_getCursorKind(expression) == CXCursor_ParenExpr) {
    const auto inner = children(expression);
    if (inner.size() != 1) return false;
    expression = inner.front();
  }
  switch (clang_getCursorKind(expression)) {
    case CXCursor_DeclRefExpr:
    case CXCursor_MemberRefExpr:
    case CXCursor_ArraySubscriptExpr: return true;
    case CXCursor_UnaryOperator:
      return clang_getCursorUnaryOperatorKind(expression) == CXUnaryOperator_Deref;
    case CXCursor_CallExpr:
      return is_pointer_like(clang_getCursorResultType(clang_getCursorReferenced(expression))) &&
             !is_pointer(clang_getCursorResultType(clang_getCursorReferenced(expression)));
    default: return false;
  }
}

// va_arg: the parser shows it as nothing but an expression of a list.
bool is_next_argument(CXCursor expression) {
  const auto inner = expressions_of(expression);
  if (inner.size() != 1) return false;
  const CXType list = bare_type(clang_getCursorType(inner.front()));
  const CXType made = clang_getCursorType(expression);
  return list.kind == CXType_Record &&
         spelling(clang_getTypeDeclaration(list)) == "__va_list_tag" &&
         !is_same(bare_type(made), list);
}

}  // namespace

void RawBytesChecker::excuse(CXCursor conversion) {
  for (CXCursor at = conversion; exists(at);) {
    excused_.push_back(at);
    const auto inner = expressions_of(at);
    const CXCursorKind kind = clang_getCursorKind(at);
    const bool goes_on =
        kind == CXCursor_UnexposedExpr || kind == CXCursor_ParenExpr || is_raw_cast(kind);
    if (!goes_on || inner.empty()) return;
    at = inner.back();
  }
}

bool RawBytesChecker::is_excused(CXCursor conversion) const {
  return std::ranges::any_of(excused_,
                             [conversion](CXCursor known) { return same(known, conversion); });
}

void RawBytesChecker::on_made_void(CXCursor conversion, CXType from) {
  const Guarded what = types_.behind(from);
  if (what == Guarded::kNot || is_excused(conversion)) return;
  const bool readable = clang_isConstQualifiedType(pointee(clang_getCursorType(conversion))) != 0;
  if (what == Guarded::kCode && readable && constness_ == Constness::kHolds) return;
  refuse(what, conversion);
}

// memcpy(&object, …), read(…, &object): libclang shows an implicit conversion as an expression.
void RawBytesChecker::on_conversion(CXCursor conversion) {
  if (is_next_argument(conversion))
    return refuse(types_.of(clang_getCursorType(conversion)), conversion);
  const auto inner = children(conversion);
  if (inner.size() != 1 || !is_void_pointer(clang_getCursorType(conversion))) return;
  const CXType from = clang_getCursorType(inner.front());
  if (is_pointer(from) && !is_void_pointer(from)) on_made_void(conversion, from);
}

void RawBytesChecker::on_cast(CXCursor cast) {
  const CXCursor operand = operand_of(cast);
  if (!exists(operand) || is_null(operand)) return;
  const CXCursor given = strip(operand);
  const CXType to = clang_getCursorType(cast);
  const CXType from = clang_getCursorType(given);
  if (computes_address(cast, to, from)) return refuse(Guarded::kCode, cast);
  const bool refers = clang_getCursorKind(cast) != CXCursor_CXXStaticCastExpr && is_object(operand);
  if (!is_pointer(to) && !refers) {
    // The address of a FILE as a number is as good as one of bytes.
    const CXTypeKind kind = clang_getCanonicalType(to).kind;
    const bool moved = kind != CXType_Bool && kind != CXType_Void;
    if (moved && is_pointer(from) && is_stream(pointee(from))) refuse(Guarded::kStream, cast);
    return;
  }
  const CXType target = refers ? clang_getCanonicalType(to) : pointee(to);
  const CXType source = !refers && is_pointer(from) ? pointee(from) : clang_getCanonicalType(from);
  if (is_same(target, source) || are_related(target, source)) return;
  if (target.kind == CXType_Void) {
    // Within the other casts stands a conversion that says the same.
    if (clang_getCursorKind(cast) == CXCursor_CXXReinterpretCastExpr) on_made_void(cast, from);
    return;
  }
  const bool fresh = source.kind == CXType_Void && is_call_of(given, kAllocators, kNew) &&
                     sources_.home(clang_getCursorReferenced(given)) != Home::kProgram;
  if (fresh) return;
  const Guarded made = is_function(target) ? Guarded::kNot : types_.of(target);
  const bool looks = refers || is_pointer(from);
  refuse(made != Guarded::kNot || !looks || is_function(source) ? made : types_.of(source), cast);
}

// new (place) T where place is a T* makes a T as it should be.
void RawBytesChecker::on_new(CXCursor made) {
  const CXType type = pointee(clang_getCursorType(made));
  for (const CXCursor part : expressions_of(made)) {
    CXCursor plain = strip(part);
    while (is_raw_cast(clang_getCursorKind(plain)) && exists(operand_of(plain)))
      plain = strip(operand_of(plain));
    const CXType from = clang_getCursorType(plain);
    if (is_pointer(from) && is_same(pointee(from), type)) excuse(part);
  }
}

}  // namespace mcpac::analyzer
