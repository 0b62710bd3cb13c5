// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/guarded_types.h"

#include <string>
#include <string_view>

#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

// What keeps an address of code behind a void* or a number, or in classes that may not be
// instantiated yet where their owner is.
constexpr std::string_view kCallers =
    " std::coroutine_handle __jmp_buf_tag ucontext_t std::function std::move_only_function "
    "std::packaged_task std::any std::shared_ptr std::weak_ptr ";

bool is_code(CXType type) {
  const bool leads = is_pointer_like(type) || type.kind == CXType_MemberPointer;
  if (leads && is_function(clang_getCanonicalType(clang_getPointeeType(type)))) return true;
  if (type.kind != CXType_Record) return false;
  const std::string name = qualified_name(clang_getTypeDeclaration(type));
  return has_word(kCallers, name) || is_polymorphic(type);
}

}  // namespace

bool is_function(CXType type) {
  return type.kind == CXType_FunctionProto || type.kind == CXType_FunctionNoProto;
}

bool is_stream(CXType type) {
  return type.kind == CXType_Record && spelling(clang_getTypeDeclaration(type)) == "_IO_FILE";
}

bool is_pointer(CXType type) {
  return clang_getCanonicalType(type).kind == CXType_Pointer;
}

bool is_void_pointer(CXType type) {
  return is_pointer(type) && pointee(type).kind == CXType_Void;
}

CXType pointee(CXType type) {
  return clang_getCanonicalType(clang_getPointeeType(clang_getCanonicalType(type)));
}

bool is_same(CXType left, CXType right) {
  return clang_equalTypes(canonical(left), canonical(right)) != 0;
}

// Capabilities have rules of their own (escape_hatches.h).
GuardedTypes::GuardedTypes(const Sources& sources)
    : code_(is_code,
            [&sources](CXCursor record) { return sources.home(record) != Home::kHeaders; }),
      streams_(is_stream,
               [&sources](CXCursor record) { return sources.home(record) != Home::kHeaders; }) {}

Guarded GuardedTypes::of(CXType type) const {
  if (streams_.reaches(type)) return Guarded::kStream;
  return code_.reaches(type) ? Guarded::kCode : Guarded::kNot;
}

Guarded GuardedTypes::behind(CXType pointer) const {
  pointer = clang_getCanonicalType(pointer);
  if (!is_pointer_like(pointer) || is_function(pointee(pointer))) return Guarded::kNot;
  return of(pointee(pointer));
}

}  // namespace mcpac::analyzer
