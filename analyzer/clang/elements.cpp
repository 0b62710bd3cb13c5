// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/elements.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/clang/constancy.h"
#include "analyzer/clang/plain.h"

namespace mcpac::analyzer {
namespace {

// Names of names of lists: a constant is initialised by one before it, so this ends anyway.
constexpr unsigned kMaxNames = 16;

std::string container_name(CXType type) {
  return qualified_name(clang_getTypeDeclaration(clang_getCanonicalType(type)));
}

// Containers that hold exactly what a braced list gave them. A set drops what is repeated and sorts
// the rest, which are the same values.
bool is_container(CXType type) {
  struct Container {
    std::string_view name;
    unsigned allocator;  // which of its arguments that is
  };
  constexpr std::array<Container, 5> kContainers{{{"std::deque", 1},
                                                  {"std::list", 1},
                                                  {"std::set", 2},
                                                  {"std::unordered_set", 3},
                                                  {"std::vector", 1}}};
  const std::string name = container_name(type);
  if (name == "std::initializer_list") return true;
  const auto found = std::ranges::find(kContainers, name, &Container::name);
  if (found == kContainers.end()) return false;
  // Another allocator constructs the elements, from what it likes.
  return container_name(type_argument(clang_getCanonicalType(type), found->allocator)) ==
         "std::allocator";
}

CXType element_type(CXType list) {
  list = without_reference(list);
  const CXType of_array = clang_getArrayElementType(list);
  const CXType element = of_array.kind != CXType_Invalid ? of_array : type_argument(list, 0);
  return clang_getUnqualifiedType(clang_getCanonicalType(element));
}

// [2] = "a": the order is not that of the text.
bool has_designator(const std::vector<CXCursor>& elements) {
  return std::ranges::any_of(elements, [](CXCursor element) {
    return clang_getCursorKind(element) == CXCursor_UnexposedExpr && children(element).size() > 1;
  });
}

// {"a", "b"}, and {{"a", "b"}} for the array inside a std::array.
std::vector<CXCursor> of_braces(CXCursor braces, bool of_std_array) {
  auto found = expressions_of(braces);
  if (!of_std_array || found.size() != 1) return found;
  const CXCursor inner = strip(found.front());
  return clang_getCursorKind(inner) == CXCursor_InitListExpr ? expressions_of(inner) : found;
}

// The braced list that a list expression is made from; a null cursor where there is none.
CXCursor braces_of(CXCursor list, Variables variables, unsigned depth) {
  const CXCursor nothing = clang_getNullCursor();
  const CXCursor at = strip(list);
  switch (clang_getCursorKind(at)) {
    case CXCursor_InitListExpr: return at;
    case CXCursor_DeclRefExpr: {
      const CXCursor variable = clang_getCursorReferenced(at);
      if (variables == Variables::kUnknown || depth > kMaxNames || !is_never_assigned(variable))
        return nothing;
      if (variables == Variables::kPlain && is_made_from_template(variable)) return nothing;
      const CXCursor initialiser = clang_Cursor_getVarDeclInitializer(variable);
      return exists(initialiser) ? braces_of(initialiser, variables, depth + 1) : nothing;
    }
    case CXCursor_CXXFunctionalCastExpr: {
      // type{…}; the type's own arguments may be expressions and stand before.
      const auto operands = expressions_of(at);
      return operands.empty() ? nothing : braces_of(operands.back(), variables, depth + 1);
    }
    case CXCursor_CallExpr: {
      // A constructor's only operand must be the braces: vector(3, "a") means something else.
      const auto operands = expressions_of(at);
      const CXCursor function = clang_getCursorReferenced(at);
      if (clang_getCursorKind(function) != CXCursor_Constructor || operands.size() != 1)
        return nothing;
      const bool list_given =
          container_name(clang_getCursorType(operands.front())) == "std::initializer_list";
      return list_given ? braces_of(operands.front(), variables, depth + 1) : nothing;
    }
    default: return nothing;
  }
}

}  // namespace

std::optional<Elements> elements_of(CXCursor list, Variables variables) {
  const CXType type = without_reference(clang_getCursorType(list));
  const bool c_array = clang_getArrayElementType(type).kind != CXType_Invalid;
  const bool std_array = container_name(type) == "std::array";
  if (!c_array && !std_array && !is_container(type)) return std::nullopt;
  const CXCursor braces = braces_of(list, variables, 0);
  if (!exists(braces)) return std::nullopt;
  Elements found{of_braces(braces, std_array), element_type(type)};
  if (found.type.kind == CXType_Invalid || has_designator(found.expressions)) return std::nullopt;
  if (!c_array && !std_array) return found;
  // What the braces leave out of an array is there all the same, empty.
  const auto size = clang_Type_getSizeOf(found.type);
  const auto count = static_cast<long long>(found.expressions.size());
  if (size <= 0 || clang_Type_getSizeOf(type) != size * count) return std::nullopt;
  return found;
}

}  // namespace mcpac::analyzer
