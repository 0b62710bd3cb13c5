// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/silent.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/clang/fold.h"
#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

// They are made from two iterators, which two pointers are.
constexpr std::string_view kRanges =
    " std::basic_string std::basic_string_view std::vector std::deque std::list std::forward_list "
    "std::set std::multiset std::unordered_set std::unordered_multiset std::span std::basic_regex "
    "std::filesystem::path ";

constexpr std::string_view kLists =
    " std::vector std::deque std::list std::forward_list std::set std::multiset std::unordered_set "
    "std::unordered_multiset std::array std::optional std::initializer_list ";
constexpr std::string_view kMaps =
    " std::map std::multimap std::unordered_map std::unordered_multimap ";
// Deeper than people write lists in lists.
constexpr unsigned kDeepestList = 16;

// The braces that an expression is, behind what the compiler puts around them.
CXCursor list_in(CXCursor expression) {
  CXCursor at = strip(expression);
  for (unsigned i = 0; i < kDeepestList; ++i) {
    const CXCursorKind kind = clang_getCursorKind(at);
    if (kind == CXCursor_InitListExpr) return at;
    if (kind != CXCursor_UnexposedExpr) break;
    const auto inner = expressions_of(at);
    if (inner.size() != 1) break;
    at = strip(inner.front());
  }
  return clang_getNullCursor();
}

bool is_literal(CXCursor expression) {
  return clang_getCursorKind(strip(expression)) == CXCursor_StringLiteral;
}

// The variable that an operand of dynamic_cast names: `&e`, `e`; null where it is none.
CXCursor variable_in(CXCursor operand) {
  CXCursor at = strip(operand);
  if (clang_getCursorKind(at) == CXCursor_UnaryOperator &&
      clang_getCursorUnaryOperatorKind(at) == CXUnaryOperator_AddrOf && exists(operand_of(at)))
    at = strip(operand_of(at));
  const CXCursor named = clang_getCursorReferenced(at);
  const CXCursorKind kind = exists(named) ? clang_getCursorKind(named) : CXCursor_InvalidCode;
  return kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl || kind == CXCursor_FieldDecl
             ? named
             : clang_getNullCursor();
}

}  // namespace

void SilentChecker::add(CXCursor at, CXCursor first, CXCursor second, bool is_text) {
  const Place place = place_of(at);
  if (!told_.emplace(place.file, place.offset).second) return;
  const std::string from = spelling(strip(first));
  const std::string to = spelling(strip(second));
  findings_.add(
      "text-range", place,
      fmt::format("{} and {} are taken for the beginning and the end of one {}, and between them "
                  "lies any memory",
                  from, to, is_text ? "text" : "range"),
      fmt::format("write one pair of braces for a list, {{{}, {}}}; two texts in a row are put "
                  "together by +",
                  from, to));
}

// `std::string text{"a", "b"};`; what else is made from braces is looked at by its type, for a list
// within a list has none.
void SilentChecker::on_constructor(CXCursor call) {
  const CXCursor function = clang_getCursorReferenced(call);
  if (!exists(function) || clang_getCursorKind(function) != CXCursor_Constructor ||
      sources_.home(function) != Home::kSystem)
    return;
  const int arguments = clang_Cursor_getNumArguments(call);
  if (arguments < 1) return;
  const CXCursor first = clang_Cursor_getArgument(call, 0);
  const CXCursor list = list_in(first);
  if (exists(list)) return check(clang_getCursorType(call), list, 0);
  if (arguments < 2) return;
  const CXCursor second = clang_Cursor_getArgument(call, 1);
  const std::string made = qualified_name(clang_getCursorSemanticParent(function));
  if (is_literal(first) && is_literal(second) && has_word(kRanges, made))
    add(call, first, second, made.starts_with("std::basic_string"));
}

void SilentChecker::check(CXType type, CXCursor list, unsigned depth) {
  type = canonical(type);
  if (depth > kDeepestList || type.kind != CXType_Record) return;
  const auto items = expressions_of(list);
  const std::string name = qualified_name(declaration_of(type));
  const auto check_item = [&](CXType of, CXCursor item) {
    if (const CXCursor inner = list_in(item); exists(inner)) check(of, inner, depth + 1);
  };
  if (name == "std::basic_string" || name == "std::basic_string_view") {
    if (items.size() == 2 && is_literal(items[0]) && is_literal(items[1]))
      add(list, items[0], items[1], true);
  } else if (has_word(kLists, name)) {
    for (const CXCursor item : items) check_item(type_argument(type, 0), item);
  } else if (has_word(kMaps, name)) {
    for (const CXCursor item : items) {
      const CXCursor pair = list_in(item);
      const auto both = exists(pair) ? expressions_of(pair) : std::vector<CXCursor>();
      for (unsigned i = 0; i < both.size() && i < 2; ++i)
        check_item(type_argument(type, i), both[i]);
    }
  } else if (sources_.home(declaration_of(type)) == Home::kProgram) {
    check_members(type, items, depth);
  }
}

void SilentChecker::check_members(CXType type, const std::vector<CXCursor>& items, unsigned depth) {
  std::vector<CXCursor> fields;
  each_child(clang_getCursorDefinition(declaration_of(type)), [&fields](CXCursor child) {
    if (clang_getCursorKind(child) == CXCursor_FieldDecl) fields.push_back(child);
  });
  std::size_t position = 0;
  for (const CXCursor child : items) {
    const auto item = item_of(child);
    if (!item) return;
    if (!item->field.empty()) {
      position = static_cast<std::size_t>(std::ranges::find(fields, item->field, spelling) -
                                          fields.begin());
    }
    if (position >= fields.size()) return;
    const CXCursor inner = list_in(item->value);
    if (exists(inner)) check(clang_getCursorType(fields[position]), inner, depth + 1);
    ++position;
  }
}

// `const auto e = r.error();` has the class that was written, mcpac::Error.
void SilentChecker::on_dynamic_cast(CXCursor cast) {
  const CXCursor operand = operand_of(cast);
  if (!exists(operand)) return;
  const CXCursor variable = variable_in(operand);
  if (!exists(variable)) return;
  const CXType type = clang_getCursorType(variable);
  if (is_pointer_like(type) || !is_named(type, "mcpac::Error")) return;
  const std::string name = spelling(variable);
  findings_.add(
      "sliced-error", cast,
      fmt::format("`{}` is a copy and so a mcpac::Error alone: this never finds another "
                  "class",
                  name),
      fmt::format("keep a reference, const mcpac::Error& {} = …; or ask {}.kind()", name, name));
}

void SilentChecker::on_node(CXCursor node, CXCursor, const Scope& scope) {
  if (scope.unevaluated) return;
  const CXCursorKind kind = clang_getCursorKind(node);
  if (kind == CXCursor_CallExpr) return on_constructor(node);
  if (kind == CXCursor_InitListExpr) return check(clang_getCursorType(node), node, 0);
  if (kind == CXCursor_CXXDynamicCastExpr) on_dynamic_cast(node);
}

}  // namespace mcpac::analyzer
