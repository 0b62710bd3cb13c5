#include "analyzer/clang/dangling.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

constexpr std::string_view kOwners = " std::basic_string std::vector ";
constexpr std::string_view kViews = " std::basic_string_view std::span ";
constexpr std::string_view kNarrower = " substr first last subspan ";
constexpr std::string_view kInsides = " c_str data ";
// They keep what they are given; those with `emplace` in their name make a view of it first.
constexpr std::string_view kKeepers =
    " push_back push_front push insert insert_or_assign try_emplace emplace emplace_back "
    "emplace_front emplace_hint operator[] ";
constexpr std::string_view kOptions =
    " -Wdangling -Wdangling-gsl -Wdangling-field -Wdangling-initializer-list "
    "-Wdangling-assignment -Wdangling-assignment-gsl -Wdangling-capture -Wreturn-stack-address ";
// Chains of calls are as long as people write them.
constexpr unsigned kDeepestView = 16;

bool is_one_of(std::string_view names, CXType type) {
  type = canonical(type);
  return type.kind == CXType_Record && has_word(names, qualified_name(declaration_of(type)));
}

bool is_reference(CXType type) {
  return is_pointer_like(type) && clang_getCanonicalType(type).kind != CXType_Pointer;
}

// What a member function is called on; nothing for other calls.
CXCursor called_on(CXCursor call) {
  const auto parts = expressions_of(call);
  if (parts.empty()) return clang_getNullCursor();
  const CXCursor callee = strip(parts.front());
  if (clang_getCursorKind(callee) != CXCursor_MemberRefExpr) return clang_getNullCursor();
  const auto inner = expressions_of(callee);
  return inner.empty() ? clang_getNullCursor() : inner.front();
}

// A string or a vector that is given back at the end of the full expression.
bool is_temporary_owner(CXCursor expression) {
  const CXCursor at = strip(expression);
  if (!is_one_of(kOwners, clang_getCursorType(at))) return false;
  const CXCursorKind kind = clang_getCursorKind(at);
  if (kind == CXCursor_CXXFunctionalCastExpr || kind == CXCursor_InitListExpr) return true;
  const CXCursor function = clang_getCursorReferenced(at);
  return kind == CXCursor_CallExpr && exists(function) &&
         !is_reference(clang_getCursorResultType(function));
}

// A view of such a one, or a pointer into it.
bool views_temporary(CXCursor expression, unsigned depth = 0) {
  const CXCursor at = strip(expression);
  const auto parts = expressions_of(at);
  if (depth > kDeepestView || parts.empty()) return false;
  const CXCursorKind kind = clang_getCursorKind(at);
  const auto views = [&](CXCursor part) {
    return views_temporary(part, depth + 1) || is_temporary_owner(part);
  };
  if (kind == CXCursor_CXXFunctionalCastExpr || kind == CXCursor_CXXStaticCastExpr)
    return is_one_of(kViews, clang_getCursorType(at)) && views(parts.back());
  const CXCursor function = clang_getCursorReferenced(at);
  if (kind != CXCursor_CallExpr || !exists(function)) return false;
  if (clang_getCursorKind(function) == CXCursor_Constructor)
    return is_one_of(kViews, clang_getCursorType(at)) && views(parts.front());
  const CXCursor object = called_on(at);
  if (!exists(object)) return false;
  if (clang_getCursorKind(function) == CXCursor_ConversionFunction)
    return is_one_of(kViews, clang_getCursorType(at)) && is_temporary_owner(object);
  if (has_word(kInsides, spelling(function))) return is_temporary_owner(object);
  return has_word(kNarrower, spelling(function)) && views_temporary(object, depth + 1);
}

bool is_pointer_to_inside(CXType type) {
  return clang_getCanonicalType(type).kind == CXType_Pointer;
}

}  // namespace

void DanglingChecker::add(const Place& place, std::string_view said) {
  if (!told_.emplace(place.file, place.line).second) return;
  const bool returns = said.contains("return");
  findings_.add(
      "dangling", place,
      fmt::format("{}{}{}{}",
                  returns
                      ? "what is returned looks at memory that ends with the function"
                      : "this looks at a temporary that is gone at the end of the line; what is "
                        "read there later is anything",
                  said.empty() ? "" : " (", said, said.empty() ? "" : ")"),
      returns ? "return the value itself: a std::string instead of a view or a reference"
              : "keep the value: const std::string text = …; and look at that");
}

void DanglingChecker::on_call(CXCursor call) {
  const CXCursor function = clang_getCursorReferenced(call);
  if (!exists(function) || sources_.home(function) != Home::kSystem) return;
  const auto parts = expressions_of(call);
  const std::string name = spelling(function);
  const CXType owner = clang_getCursorType(clang_getCursorSemanticParent(function));
  if (name == "operator=") {
    if (parts.size() > 1 && is_one_of(kViews, owner) && views_temporary(parts.back()))
      add(place_of(parts.back()), "");
    return;
  }
  if (!has_word(kKeepers, name) || !is_one_of(kViews, type_argument(canonical(owner), 0))) return;
  const bool makes = name.contains("emplace");
  for (const CXCursor part : parts) {
    if (views_temporary(part) || (makes && is_temporary_owner(part))) add(place_of(part), "");
  }
}

void DanglingChecker::on_loop(CXCursor range_for) {
  const auto parts = children(range_for);
  if (parts.size() < 2) return;
  heads_.emplace_back(place_of(clang_getRangeStart(clang_getCursorExtent(range_for))),
                      place_of(clang_getRangeStart(clang_getCursorExtent(parts.back()))));
}

void DanglingChecker::on_node(CXCursor node, CXCursor, const Scope& scope) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (kind == CXCursor_CXXForRangeStmt) on_loop(node);
  if (scope.in_template || scope.unevaluated) return;
  if (kind == CXCursor_CallExpr) return on_call(node);
  const CXType type = clang_getCursorType(node);
  if (kind == CXCursor_VarDecl && (is_one_of(kViews, type) || is_pointer_to_inside(type))) {
    const CXCursor value = clang_Cursor_getVarDeclInitializer(node);
    if (exists(value) && views_temporary(value)) add(place_of(value), "");
  }
  if (kind == CXCursor_BinaryOperator && is_pointer_to_inside(type) &&
      clang_getCursorBinaryOperatorKind(node) == CXBinaryOperator_Assign) {
    const CXCursor value = operand_of(node);
    if (exists(value) && views_temporary(value)) add(place_of(value), "");
  }
}

void DanglingChecker::on_warning(std::string_view option, const Place& place,
                                 std::string_view message) {
  if (!has_word(kOptions, option) || sources_.home(place.file) != Home::kProgram) return;
  const bool in_head = std::ranges::any_of(heads_, [&place](const auto& head) {
    return clang_File_isEqual(head.first.file, place.file) != 0 &&
           head.first.offset <= place.offset && place.offset < head.second.offset;
  });
  if (!in_head) add(place, message);
}

}  // namespace mcpac::analyzer
