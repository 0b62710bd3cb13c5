// SPDX-License-Identifier: Apache-2.0

// The part of RawBytesChecker that looks at templates of the library: std::invoke hands an object
// to a function that takes void*, a std::vector<void*> is made from a range of other pointers, a
// pool makes objects in a buffer of the program. The conversion stands in the library, which is not
// looked into; so a call is judged by the types that meet in it.
#include <algorithm>
#include <string>
#include <string_view>

#include "analyzer/clang/plain.h"
#include "analyzer/clang/raw_bytes.h"
#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

// Deeper than types that people write down; what is deeper counts as what is looked for.
constexpr unsigned kDeepestType = 16;

constexpr std::string_view kOwners = " std::shared_ptr std::weak_ptr std::unique_ptr ";
// They show a pointer or take one back.
constexpr std::string_view kShow = " print println format format_to format_to_n formatted_size ";

std::string name_of_declaration(CXType type) {
  return qualified_name(declaration_of(type));
}

// Whether the type or one that it is written with is one: a pointer's, an element's, a template's
// argument. `through_functions`: also what a function takes.
bool mentions(CXType type, bool through_functions, const Reach::IsType& is, unsigned depth = 0) {
  type = canonical(type);
  if (type.kind == CXType_Invalid) return false;
  if (depth > kDeepestType || is(type)) return true;
  const auto inside = [&](CXType next) { return mentions(next, through_functions, is, depth + 1); };
  if (is_pointer_like(type) || type.kind == CXType_MemberPointer)
    return inside(clang_getPointeeType(type));
  if (is_function(type)) {
    for (int i = 0; through_functions && i < clang_getNumArgTypes(type); ++i) {
      if (inside(clang_getArgType(type, static_cast<unsigned>(i)))) return true;
    }
    return false;
  }
  if (clang_getArrayElementType(type).kind != CXType_Invalid)
    return inside(clang_getArrayElementType(type));
  for (int i = 0; i < clang_Type_getNumTemplateArguments(type); ++i) {
    if (inside(type_argument(type, static_cast<unsigned>(i)))) return true;
  }
  return false;
}

bool is_pool_allocator(CXType type) {
  return type.kind == CXType_Record &&
         name_of_declaration(type) == "std::pmr::polymorphic_allocator";
}

// The object that a member function is called on; nothing for other calls.
CXType object_type(CXCursor call, CXCursor function) {
  for (const CXCursor part : expressions_of(call)) {
    const CXCursor callee = strip(part);
    if (clang_getCursorKind(callee) != CXCursor_MemberRefExpr ||
        !same(clang_getCursorReferenced(callee), function))
      continue;
    const auto inner = expressions_of(callee);
    if (!inner.empty()) return clang_getCursorType(inner.front());
  }
  return {CXType_Invalid, {nullptr, nullptr}};
}

// `*this`, and that as one of its classes.
bool is_this_object(CXCursor argument) {
  CXCursor at = strip(argument);
  while (is_raw_cast(clang_getCursorKind(at)) && exists(operand_of(at))) at = strip(operand_of(at));
  if (clang_getCursorKind(at) != CXCursor_UnaryOperator ||
      clang_getCursorUnaryOperatorKind(at) != CXUnaryOperator_Deref)
    return false;
  CXCursor inner = strip(operand_of(at));
  while (is_raw_cast(clang_getCursorKind(inner)) && exists(operand_of(inner)))
    inner = strip(operand_of(inner));
  return clang_getCursorKind(inner) == CXCursor_CXXThisExpr;
}

}  // namespace

// A void*, a function that takes one, an owner of one, or a class that is called with or made from
// one.
bool RawBytesChecker::takes_void(CXType type) const {
  const auto is_raw = [this](CXType at) {
    if (!is_pointer(at) || pointee(at).kind != CXType_Void) return false;
    return clang_isConstQualifiedType(pointee(at)) == 0 || constness_ == Constness::kMayBeCast;
  };
  const auto takes = [&](CXType at) {
    if (is_raw(at)) return true;
    if (at.kind != CXType_Record) return false;
    if (has_word(kOwners, name_of_declaration(at)) && type_argument(at, 0).kind == CXType_Void)
      return true;
    const CXCursor record = clang_getCursorDefinition(declaration_of(at));
    if (!exists(record) || sources_.home(record) != Home::kProgram) return false;
    bool found = false;
    each_child(record, [&](CXCursor member) {
      const bool called =
          clang_getCursorKind(member) == CXCursor_Constructor || spelling(member) == "operator()";
      for (int i = 0; called && i < clang_Cursor_getNumArguments(member); ++i) {
        const CXCursor parameter = clang_Cursor_getArgument(member, static_cast<unsigned>(i));
        found = found || is_raw(canonical(without_reference(clang_getCursorType(parameter))));
      }
    });
    return found;
  };
  return mentions(type, true, takes);
}

// What a pointer leads to, or an owner has.
Guarded RawBytesChecker::handed(CXType type) const {
  Guarded found = Guarded::kNot;
  const bool hands = mentions(type, false, [&](CXType at) {
    if (is_pointer_like(at)) {
      found = guarded_behind(at);
    } else if (at.kind == CXType_Record && has_word(kOwners, name_of_declaration(at))) {
      found = guarded(type_argument(at, 0));
    }
    return found != Guarded::kNot;
  });
  return hands && found == Guarded::kNot ? Guarded::kCode : found;  // too deep to be looked through
}

void RawBytesChecker::on_library_call(CXCursor call) {
  const CXCursor function = clang_getCursorReferenced(call);
  if (!exists(function) || sources_.home(function) != Home::kSystem) return;
  on_handle(call);
  on_pool(call);
  // What is no template converts its arguments where the program calls it.
  if (!is_made_from_template(function) || has_word(kShow, spelling(function))) return;
  std::vector<CXType> types{clang_getCursorType(call), object_type(call, function)};
  for (int i = 0; i < clang_Cursor_getNumArguments(call); ++i)
    types.push_back(clang_getCursorType(clang_Cursor_getArgument(call, static_cast<unsigned>(i))));
  for (std::size_t taker = 0; taker < types.size(); ++taker) {
    if (!takes_void(types[taker])) continue;
    for (const CXType& other : types) {
      // A copy of a type is not looked at as something else.
      if (&other == &types[taker] || is_same(other, types[taker])) continue;
      if (const Guarded what = handed(other); what != Guarded::kNot) return refuse(what, call);
    }
  }
}

// A coroutine's handle is made from its promise by the promise itself; from another object it would
// be a forged frame.
void RawBytesChecker::on_handle(CXCursor call) {
  if (spelling(clang_getCursorReferenced(call)) != "from_promise") return;
  if (clang_Cursor_getNumArguments(call) != 1 || !is_this_object(clang_Cursor_getArgument(call, 0)))
    return;
  for (const CXCursor part : expressions_of(call)) excuse(part);
}

// A container with a pool of its own keeps the address of that pool, which has virtual functions;
// what counts is what else it holds.
bool RawBytesChecker::is_guarded_in_pool(CXType type) const {
  if (!mentions(type, false, is_pool_allocator)) return guarded(type) != Guarded::kNot;
  for (int i = 0; i < clang_Type_getNumTemplateArguments(type); ++i) {
    const CXType argument = type_argument(type, static_cast<unsigned>(i));
    if (!is_pool_allocator(argument) && is_guarded_in_pool(argument)) return true;
  }
  return false;
}

// std::pmr: what a pool makes in a buffer of the program may be written there by its bytes.
void RawBytesChecker::on_pool(CXCursor call) {
  const CXType type = canonical(clang_getCursorType(call));
  const bool pool = name_of_declaration(type) == "std::pmr::monotonic_buffer_resource";
  if (pool && clang_Cursor_getNumArguments(call) > 1 &&
      is_pointer(clang_getCursorType(clang_Cursor_getArgument(call, 0)))) {
    has_buffer_ = true;
    for (const CXCursor known : pooled_) refuse(Guarded::kCode, known);
    pooled_.clear();
  }
  const bool held = mentions(type, false, [this](CXType at) {
    return is_pool_allocator(at) && is_guarded_in_pool(type_argument(at, 0));
  });
  if (!held) return;
  if (has_buffer_) return refuse(Guarded::kCode, call);
  pooled_.push_back(call);
}

}  // namespace mcpac::analyzer
