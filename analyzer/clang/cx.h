// SPDX-License-Identifier: Apache-2.0

// cx: the few things that every user of libclang's C API needs, so that no other file frees a
// CXString or writes a visitor callback.
//
// A Place is where text stands in a file; #line directives do not move it. For text that a macro
// made it is the place where the macro was used.
#pragma once

#include <clang-c/Index.h>

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace mcpac::analyzer {

[[nodiscard]] std::string take(CXString text);

struct Place {
  CXFile file = nullptr;
  unsigned line = 0;
  unsigned column = 0;
  unsigned offset = 0;
};
[[nodiscard]] Place place_of(CXSourceLocation location);
[[nodiscard]] Place place_of(CXCursor cursor);

// Calls visit(CXCursor) for every direct child.
template <std::invocable<CXCursor> Visit>
void each_child(CXCursor parent, Visit&& visit) {
  clang_visitChildren(
      parent,
      [](CXCursor cursor, CXCursor, CXClientData data) {
        (*static_cast<std::remove_reference_t<Visit>*>(data))(cursor);
        return CXChildVisit_Continue;
      },
      &visit);
}
[[nodiscard]] std::vector<CXCursor> children(CXCursor parent);
// Those of them that are expressions.
[[nodiscard]] std::vector<CXCursor> expressions_of(CXCursor parent);

[[nodiscard]] inline bool exists(CXCursor cursor) {
  return clang_Cursor_isNull(cursor) == 0 && clang_isInvalid(clang_getCursorKind(cursor)) == 0;
}
[[nodiscard]] inline bool same(CXCursor left, CXCursor right) {
  return clang_equalCursors(left, right) != 0;
}
// The same for expressions: libclang makes a cursor of an argument with another declaration around
// it than the one that a visit gives.
[[nodiscard]] inline bool same_expression(CXCursor left, CXCursor right) {
  return left.kind == right.kind && left.data[1] == right.data[1];
}
[[nodiscard]] inline std::string spelling(CXCursor cursor) {
  return take(clang_getCursorSpelling(cursor));
}

// Whether a macro made the text of the node.
[[nodiscard]] bool is_from_macro(CXCursor node);

// "mcp::filesystem::read_text_file"; inline namespaces, unnamed scopes and lambdas leave no trace.
[[nodiscard]] std::string qualified_name(CXCursor declaration);
// The outermost namespace that holds the declaration: "std"; "" for the global one.
[[nodiscard]] std::string outermost_namespace(CXCursor declaration);

// The declaration of the canonical type; invalid where the type has none.
[[nodiscard]] inline CXCursor declaration_of(CXType type) {
  return clang_getTypeDeclaration(clang_getCanonicalType(type));
}
// Whether the canonical type is declared under this qualified name.
[[nodiscard]] bool is_named(CXType type, std::string_view name);
// The type without references, pointers, arrays and qualifiers, canonical.
[[nodiscard]] CXType bare_type(CXType type);
// The type without references, canonical; pointers stay.
[[nodiscard]] CXType without_reference(CXType type);
// A pointer or a reference.
[[nodiscard]] bool is_pointer_like(CXType type);
// The type without qualifiers, canonical; one that is invalid stays so, for libclang does not take
// the type of what has none.
[[nodiscard]] CXType canonical(CXType type);
// The type that stands as template argument i, canonical; kind CXType_Invalid where there is none.
[[nodiscard]] CXType type_argument(CXType type, unsigned i);

// Skips what the compiler put around an expression: implicit casts, parentheses, temporaries.
[[nodiscard]] CXCursor strip(CXCursor expression);

// The object of a call of a member function or operator; null for every other call, and for one on
// `this` that is not written.
[[nodiscard]] CXCursor object_of(CXCursor call);

// The operand of a cast: its only expression.
[[nodiscard]] CXCursor operand_of(CXCursor cast);

// Whether a value of the type is text as a tool takes it: a pointer to or an array of char, a
// string or a view of the standard library with its own traits.
[[nodiscard]] bool is_text(CXType type);

}  // namespace mcpac::analyzer
