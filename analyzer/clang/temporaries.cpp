// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/temporaries.h"

#include <algorithm>

#include "analyzer/clang/guarded_types.h"
#include "analyzer/clang/reach.h"
#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

constexpr std::string_view kOwning =
    " std::basic_string std::vector std::deque std::list std::array std::map std::multimap "
    "std::unordered_map std::unordered_multimap std::set std::multiset std::unordered_set "
    "std::optional std::expected std::pair std::tuple std::unique_ptr nlohmann::basic_json ";
constexpr std::string_view kViews =
    " std::basic_string_view std::span nlohmann::detail::iter_impl ";
// What a view is made of without being asked.
constexpr std::string_view kConverted = " std::basic_string std::vector std::array ";
constexpr std::string_view kMaps =
    " std::map std::multimap std::unordered_map std::unordered_multimap ";
// They keep elements of their first argument's type.
constexpr std::string_view kSequences =
    " std::vector std::deque std::list std::array std::set std::multiset std::unordered_set "
    "std::unordered_multiset std::initializer_list std::stack std::queue std::optional ";
constexpr std::string_view kGroups = " std::pair std::tuple ";
// What makes a group from its arguments.
constexpr std::string_view kMakers = " make_pair make_tuple make_optional ";
// Of an owner, that give a pointer or an iterator into it; others (type_name) lead elsewhere.
constexpr std::string_view kInsides =
    " c_str data get get_ptr what operator-> begin cbegin end cend find ";
// Of a view, that give a smaller one, or a pointer.
constexpr std::string_view kNarrower = " substr first last subspan data begin cbegin ";
// They keep what they are given; those with `emplace` in their name make an element of it first.
constexpr std::string_view kKeeping =
    " push_back push_front push insert insert_or_assign try_emplace emplace emplace_back "
    "emplace_front emplace_hint operator[] ";
// Chains of calls are as long as people write them.
constexpr unsigned kDeepestChain = 24;

bool is_one_of(std::string_view names, CXType type) {
  type = canonical(type);
  return type.kind == CXType_Record && has_word(names, qualified_name(declaration_of(type)));
}

bool is_reference(CXType type) {
  type = clang_getCanonicalType(type);
  return type.kind == CXType_LValueReference || type.kind == CXType_RValueReference;
}

bool is_constructor(CXCursor function) {
  return clang_getCursorKind(function) == CXCursor_Constructor;
}

// What stands between the parentheses or braces; without the callee.
std::vector<CXCursor> given_to(CXCursor call) {
  auto parts = expressions_of(call);
  const CXCursor function = clang_getCursorReferenced(call);
  if (clang_getCursorKind(call) != CXCursor_CallExpr || !exists(function)) return parts;
  std::erase_if(parts, [function](CXCursor part) {
    return same(clang_getCursorReferenced(strip(part)), function) &&
           clang_getCursorKind(strip(part)) != CXCursor_CallExpr;
  });
  return parts;
}

// The value of `.name = value`.
CXCursor value_of_item(CXCursor item) {
  const auto parts = children(item);
  const bool is_named = parts.size() == 2 && clang_getCursorKind(item) == CXCursor_UnexposedExpr &&
                        clang_getCursorKind(parts.front()) == CXCursor_MemberRef;
  return is_named ? parts.back() : item;
}

// Which one `.name =` of an aggregate is.
std::string name_of_item(CXCursor item) {
  const auto parts = children(item);
  return same(value_of_item(item), item) ? "" : spelling(parts.front());
}

CXVisitorResult collect_field(CXCursor field, CXClientData data) {
  static_cast<std::vector<CXCursor>*>(data)->push_back(field);
  return CXVisit_Continue;
}

std::vector<CXCursor> fields_of(CXType record) {
  std::vector<CXCursor> fields;
  clang_Type_visitFields(canonical(record), collect_field, &fields);
  return fields;
}

// A class whose fields are what is given to it, in their order.
bool is_aggregate(CXType record) {
  bool plain = clang_Type_getNumTemplateArguments(canonical(record)) <= 0 && !has_bases(record);
  each_child(clang_getCursorDefinition(declaration_of(record)), [&plain](CXCursor child) {
    plain = plain && clang_getCursorKind(child) != CXCursor_Constructor;
  });
  return plain;
}

// `c ? a : b` has three expressions, the values last.
std::vector<CXCursor> branches_of(CXCursor at) {
  auto parts = expressions_of(at);
  if (clang_getCursorKind(at) != CXCursor_ConditionalOperator || parts.size() != 3) return {};
  parts.erase(parts.begin());
  return parts;
}

bool is_cast(CXCursorKind kind) {
  return kind == CXCursor_CXXFunctionalCastExpr || kind == CXCursor_CXXStaticCastExpr ||
         kind == CXCursor_CStyleCastExpr;
}

bool is_deref(CXCursor at) {
  return clang_getCursorKind(at) == CXCursor_UnaryOperator &&
         clang_getCursorUnaryOperatorKind(at) == CXUnaryOperator_Deref;
}

}  // namespace

bool Temporaries::is_owner(CXType type) const {
  type = canonical(type);
  return type.kind == CXType_Record &&
         (is_one_of(kOwning, type) || sources_.home(declaration_of(type)) == Home::kHeaders);
}

bool Temporaries::is_view(CXType type) {
  return is_one_of(kViews, type);
}

// Whether what the members of the object lead to ends with the full expression.
bool Temporaries::hands_out(CXCursor object, unsigned depth) const {
  const CXType type = clang_getCursorType(strip(object));
  if (is_pointer(type) || is_view(type)) return view_dangles(object, depth);
  return is_owner(type) && is_temporary(object, depth);
}

bool Temporaries::is_temporary(CXCursor expression, unsigned depth) const {
  const CXCursor at = strip(expression);
  const auto parts = expressions_of(at);
  const CXCursorKind kind = clang_getCursorKind(at);
  if (depth > kDeepestChain) return false;
  if (kind == CXCursor_CXXFunctionalCastExpr || kind == CXCursor_InitListExpr) return true;
  if (kind == CXCursor_CallExpr) {
    const CXCursor function = clang_getCursorReferenced(at);
    if (!exists(function)) return false;
    if (is_constructor(function) || !is_reference(clang_getCursorResultType(function))) return true;
  }
  if (const auto branches = branches_of(at); !branches.empty())
    return std::ranges::any_of(branches,
                               [&](CXCursor one) { return is_temporary(one, depth + 1); });
  if (kind == CXCursor_MemberRefExpr && parts.size() == 1 &&
      !is_pointer(clang_getCursorType(strip(parts.front())))) {
    const CXCursor field = clang_getCursorReferenced(at);
    return exists(field) && clang_getCursorKind(field) == CXCursor_FieldDecl &&
           !is_reference(clang_getCursorType(field)) && is_temporary(parts.front(), depth + 1);
  }
  return reference_dangles(at, depth + 1);
}

bool Temporaries::reference_dangles(CXCursor expression, unsigned depth) const {
  const CXCursor at = strip(expression);
  const auto parts = expressions_of(at);
  if (depth > kDeepestChain || parts.empty()) return false;
  const CXCursorKind kind = clang_getCursorKind(at);
  if (is_deref(at)) return view_dangles(parts.front(), depth + 1);
  if (const auto branches = branches_of(at); !branches.empty())
    return std::ranges::any_of(branches,
                               [&](CXCursor one) { return reference_dangles(one, depth + 1); });
  if (kind == CXCursor_MemberRefExpr) {
    const CXCursor field = clang_getCursorReferenced(at);
    if (!exists(field) || clang_getCursorKind(field) != CXCursor_FieldDecl ||
        is_reference(clang_getCursorType(field)))
      return false;
    return is_pointer(clang_getCursorType(strip(parts.front())))
               ? view_dangles(parts.front(), depth + 1)
               : reference_dangles(parts.front(), depth + 1);
  }
  if (kind == CXCursor_ArraySubscriptExpr) return view_dangles(parts.front(), depth + 1);
  if (kind != CXCursor_CallExpr) return false;
  const CXCursor function = clang_getCursorReferenced(at);
  if (!exists(function) || !is_reference(clang_getCursorResultType(function)) ||
      sources_.home(function) == Home::kProgram)
    return false;
  const CXCursor object = object_of(at);
  return exists(object) && hands_out(object, depth + 1);
}

bool Temporaries::view_dangles(CXCursor expression, unsigned depth) const {
  const CXCursor at = strip(expression);
  const auto parts = expressions_of(at);
  if (depth > kDeepestChain || parts.empty()) return false;
  const CXCursorKind kind = clang_getCursorKind(at);
  if (const auto branches = branches_of(at); !branches.empty())
    return std::ranges::any_of(branches,
                               [&](CXCursor one) { return view_dangles(one, depth + 1); });
  if (kind == CXCursor_UnaryOperator)
    return clang_getCursorUnaryOperatorKind(at) == CXUnaryOperator_AddrOf &&
           reference_dangles(parts.front(), depth + 1);
  const CXType type = clang_getCursorType(at);
  if (!is_view(type) && !is_pointer(type)) return false;
  if (is_cast(kind)) return hands_out(parts.back(), depth + 1);
  const CXCursor function = clang_getCursorReferenced(at);
  if (kind != CXCursor_CallExpr || !exists(function)) return false;
  if (is_constructor(function)) return hands_out(parts.front(), depth + 1);
  const CXType result = clang_getCursorResultType(function);
  const CXCursor object = object_of(at);
  if (is_reference(result) || !exists(object) || sources_.home(function) == Home::kProgram)
    return false;
  const CXType from = clang_getCursorType(strip(object));
  const std::string name = spelling(function);
  const bool converts = clang_getCursorKind(function) == CXCursor_ConversionFunction;
  if (is_view(from)) return has_word(kNarrower, name) && view_dangles(object, depth + 1);
  const bool looks = is_view(result) || is_pointer(result);
  return looks && (converts || has_word(kInsides, name)) && hands_out(object, depth + 1);
}

// The types of the parts of a group or an aggregate.
std::vector<CXType> Temporaries::parts_of(CXType type) const {
  std::vector<CXType> types;
  if (is_one_of(kGroups, type)) {
    for (int i = 0; i < clang_Type_getNumTemplateArguments(canonical(type)); ++i)
      types.push_back(type_argument(canonical(type), static_cast<unsigned>(i)));
  } else if (canonical(type).kind == CXType_Record &&
             sources_.home(declaration_of(type)) == Home::kProgram && is_aggregate(type)) {
    for (const CXCursor field : fields_of(type)) types.push_back(clang_getCursorType(field));
  }
  return types;
}

bool Temporaries::parts_dangle(const std::vector<CXCursor>& values,
                               const std::vector<CXType>& types, unsigned depth) const {
  for (std::size_t i = 0; i < std::min(values.size(), types.size()); ++i) {
    if (value_dangles(values[i], types[i], depth)) return true;
  }
  return false;
}

bool Temporaries::value_dangles(CXCursor expression, CXType type, unsigned depth) const {
  if (depth > kDeepestChain) return false;
  type = clang_getCanonicalType(type);
  const CXCursor at = strip(expression);
  if (is_reference(type) || type.kind == CXType_Invalid) return false;
  if (is_pointer(type)) return view_dangles(at, depth + 1);
  if (is_view(type))
    return view_dangles(at, depth + 1) ||
           (is_one_of(kConverted, clang_getCursorType(at)) && hands_out(at, depth + 1));
  if (canonical(type).kind != CXType_Record) return false;
  const CXCursorKind kind = clang_getCursorKind(at);
  const CXCursor function = clang_getCursorReferenced(at);
  const bool makes = kind == CXCursor_CallExpr && exists(function) &&
                     sources_.home(function) == Home::kSystem &&
                     (is_constructor(function) || has_word(kMakers, spelling(function)));
  if (is_cast(kind) && !expressions_of(at).empty())
    return value_dangles(expressions_of(at).back(), type, depth + 1);
  if (!makes && kind != CXCursor_InitListExpr) {
    // What an optional converts by itself.
    return is_one_of(" std::optional ", type) &&
           !is_one_of(" std::optional ", clang_getCursorType(at)) &&
           value_dangles(at, type_argument(canonical(type), 0), depth + 1);
  }
  auto values = given_to(at);
  // The copy of one that was made in the same expression.
  if (values.size() == 1 &&
      clang_equalTypes(canonical(clang_getCursorType(strip(values.front()))), canonical(type)) != 0)
    return value_dangles(values.front(), type, depth + 1);
  if (is_one_of(kMaps, type)) {
    const CXType key = type_argument(canonical(type), 0);
    const CXType mapped = type_argument(canonical(type), 1);
    return std::ranges::any_of(values, [&](CXCursor value) {
      const CXCursor list = strip(value);
      if (clang_getCursorKind(list) != CXCursor_InitListExpr) return false;
      const auto inner = expressions_of(list);
      const bool is_entry =
          inner.size() == 2 && clang_getCursorKind(strip(inner.front())) != CXCursor_InitListExpr;
      return is_entry ? parts_dangle(inner, {key, mapped}, depth + 1)
                      : value_dangles(list, type, depth + 1);
    });
  }
  if (is_one_of(kSequences, type)) {
    const CXType element = type_argument(canonical(type), 0);
    const bool in_braces = kind == CXCursor_InitListExpr || is_one_of(" std::optional ", type);
    return std::ranges::any_of(values, [&](CXCursor value) {
      const bool is_list = clang_getCursorKind(strip(value)) == CXCursor_InitListExpr;
      if (is_list && !in_braces)
        return std::ranges::any_of(expressions_of(strip(value)), [&](CXCursor one) {
          return value_dangles(one, element, depth + 1);
        });
      return in_braces && value_dangles(value, element, depth + 1);
    });
  }
  const auto parts = parts_of(type);
  if (kind != CXCursor_InitListExpr || is_one_of(kGroups, type))
    return parts_dangle(values, parts, depth + 1);
  const auto fields = fields_of(type);
  std::size_t position = 0;
  for (const CXCursor item : values) {
    if (const std::string name = name_of_item(item); !name.empty()) {
      const auto named = std::ranges::find(fields, name, spelling);
      position = static_cast<std::size_t>(named - fields.begin());
    }
    if (position < parts.size() && value_dangles(value_of_item(item), parts[position], depth + 1))
      return true;
    ++position;
  }
  return false;
}

std::vector<Temporaries::Kept> Temporaries::kept_by(CXType container, std::string_view function,
                                                    std::vector<CXCursor> values) const {
  std::vector<Kept> kept;
  container = canonical(container);
  if (!has_word(kKeeping, function)) return kept;
  if (function == "emplace_hint" && !values.empty()) values.erase(values.begin());
  const auto keep_each = [&kept](const std::vector<CXCursor>& given,
                                 const std::vector<CXType>& types) {
    for (std::size_t i = 0; i < std::min(given.size(), types.size()); ++i)
      kept.push_back({given[i], types[i]});
  };
  if (is_one_of(kMaps, container)) {
    const CXType key = type_argument(container, 0);
    const CXType mapped = type_argument(container, 1);
    if (function == "insert") {
      // `{key, value}`, or a pair that is made here.
      for (const CXCursor value : values) {
        const auto inner = given_to(strip(value));
        if (inner.size() == 2) keep_each(inner, {key, mapped});
      }
    } else if (values.size() <= 2) {
      keep_each(values, {key, mapped});
    } else if (function == "try_emplace") {
      auto types = parts_of(mapped);
      types.insert(types.begin(), key);
      keep_each(values, types);
    }
  } else if (is_one_of(kSequences, container) && function != "operator[]") {
    const CXType element = type_argument(container, 0);
    const auto parts = parts_of(element);
    const bool makes = function.contains("emplace") && values.size() > 1;
    keep_each(values, makes ? parts : std::vector(values.size(), element));
  }
  return kept;
}

// `view = inner`, `view = inner.substr(…)` of a view, `view = &inner`, `views.push_back(inner)`.
CXCursor Temporaries::looked_at(CXCursor expression, CXType type, unsigned depth) const {
  const CXCursor nothing = clang_getNullCursor();
  const CXCursor at = strip(expression);
  if (depth > kDeepestChain || !exists(at)) return nothing;
  const CXCursorKind kind = clang_getCursorKind(at);
  const auto parts = expressions_of(at);
  if (kind == CXCursor_DeclRefExpr) {
    const CXCursor variable = clang_getCursorReferenced(at);
    const bool owns = is_view(type) && is_owner(clang_getCursorType(at));
    return owns ? variable : nothing;
  }
  if (parts.empty()) return nothing;
  if (kind == CXCursor_UnaryOperator && is_pointer(type)) {
    const CXCursor of = strip(parts.front());
    const bool takes = clang_getCursorUnaryOperatorKind(at) == CXUnaryOperator_AddrOf &&
                       clang_getCursorKind(of) == CXCursor_DeclRefExpr;
    return takes ? clang_getCursorReferenced(of) : nothing;
  }
  if (is_cast(kind)) return looked_at(parts.back(), type, depth + 1);
  const CXCursor function = clang_getCursorReferenced(at);
  if (kind != CXCursor_CallExpr || !exists(function)) return nothing;
  if (is_constructor(function))
    return is_view(clang_getCursorType(at)) ? looked_at(parts.front(), type, depth + 1) : nothing;
  const CXCursor object = object_of(at);
  if (!exists(object) || is_reference(clang_getCursorResultType(function))) return nothing;
  const CXType from = clang_getCursorType(strip(object));
  const std::string name = spelling(function);
  const bool converts = clang_getCursorKind(function) == CXCursor_ConversionFunction;
  if (is_view(from))
    return has_word(kNarrower, name) ? looked_at(object, from, depth + 1) : nothing;
  const bool goes_inside = converts || has_word(kInsides, name);
  const bool owns =
      goes_inside && is_owner(from) && clang_getCursorKind(strip(object)) == CXCursor_DeclRefExpr;
  return owns ? clang_getCursorReferenced(strip(object)) : nothing;
}

}  // namespace mcpac::analyzer
