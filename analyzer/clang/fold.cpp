#include "analyzer/clang/fold.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "analyzer/clang/literals.h"

namespace mcpac::analyzer {
namespace {

bool is_number(CXType type) {
  const CXTypeKind kind = clang_getCanonicalType(type).kind;
  return kind >= CXType_Bool && kind <= CXType_LongDouble && kind != CXType_WChar &&
         kind != CXType_Char_S && kind != CXType_Char_U;
}

// A field of a floating type holds a double and is sent without a fraction where it has none, as
// number_json of templates/mcpac/json_form.hpp does it. An integer with digits that the double does
// not keep is never sent (to_real of templates/mcpac/fields.hpp throws): 9007199254740993.
std::optional<Json> as_sent(const Json& number, CXType field) {
  const CXTypeKind kind = clang_getCanonicalType(field).kind;
  if (kind != CXType_Float && kind != CXType_Double) return number;
  const double value =
      kind == CXType_Float ? static_cast<double>(number.get<float>()) : number.get<double>();
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (number.is_number_integer() && std::abs(value) >= kExact) {
    constexpr double kLimit = 18446744073709551616.0;  // 2^64
    const bool keeps = number.is_number_unsigned()
                           ? value < kLimit && static_cast<std::uint64_t>(value) == number
                           : value < kLimit / 2 && static_cast<std::int64_t>(value) == number;
    if (!keeps) return std::nullopt;
  }
  const bool whole = std::trunc(value) == value && std::abs(value) <= kExact;
  if (!whole || (value == 0 && std::signbit(value))) return value;
  return static_cast<std::int64_t>(value);
}

// Args{…}, and a copy of that: the list in it.
CXCursor braced_list(CXCursor expression) {
  for (;;) {
    expression = strip(expression);
    const CXCursorKind kind = clang_getCursorKind(expression);
    const auto inner = expressions_of(expression);
    const bool goes_on = kind == CXCursor_CXXFunctionalCastExpr && inner.size() == 1;
    if (!goes_on) return expression;
    expression = inner.front();
  }
}

}  // namespace

std::optional<Item> item_of(CXCursor child) {
  if (clang_getCursorKind(child) != CXCursor_UnexposedExpr) return Item{"", child};
  const auto parts = children(child);
  if (parts.empty() || clang_getCursorKind(parts.front()) != CXCursor_MemberRef)
    return Item{"", child};
  if (parts.size() != 2) return std::nullopt;
  return Item{spelling(parts.front()), parts.back()};
}

bool Folder::is_generated(CXType type) const {
  const CXCursor declaration = declaration_of(type);
  return exists(declaration) && sources_.home(declaration) == Home::kHeaders;
}

// Required<T>, Optional<T>, Nullable<T>, Box<T>: what they hold.
CXType Folder::unwrapped(CXType type) const {
  for (;;) {
    type = clang_getUnqualifiedType(without_reference(type));
    const CXType inner = type_argument(type, 0);
    const bool wraps =
        inner.kind != CXType_Invalid &&
        (is_named(type, "std::optional") ||
         (is_generated(type) && outermost_namespace(declaration_of(type)) == "mcpac"));
    if (!wraps) return type;
    type = inner;
  }
}

// A list as it is written, or the name of a constant one.
Folder::Folded Folder::array(CXCursor list, CXType element, unsigned depth) {
  std::vector<CXCursor> expressions;
  if (clang_getCursorKind(list) == CXCursor_InitListExpr) {
    expressions = expressions_of(list);
  } else if (auto elements = elements_of(list, bindings_.variables());
             elements && clang_equalTypes(elements->type, clang_getCanonicalType(element)) != 0 &&
             is_named(without_reference(clang_getCursorType(list)), "std::vector")) {
    expressions = std::move(elements->expressions);
  } else {
    return std::nullopt;
  }
  Json json = Json::array();
  for (const CXCursor child : expressions) {
    auto folded = value(child, element, depth);
    if (!folded) return std::nullopt;
    json.push_back(std::move(*folded));
  }
  return json;
}

Folder::Folded Folder::object(CXCursor list, CXType record, unsigned depth) {
  if (clang_getCursorKind(list) != CXCursor_InitListExpr) return std::nullopt;
  const auto& fields = fields_.of(clang_getCursorDefinition(declaration_of(record)));
  Json json = Json::object();
  std::size_t position = 0;
  for (const CXCursor child : expressions_of(list)) {
    const auto item = item_of(child);
    if (!item) return std::nullopt;
    const Field* field = item->field.empty()
                             ? (position < fields.size() ? &fields[position] : nullptr)
                             : Fields::find(fields, item->field);
    if (field == nullptr) return std::nullopt;
    position = static_cast<std::size_t>(field - fields.data()) + 1;
    auto folded = value(item->value, field->type, depth);
    if (!folded) return std::nullopt;
    json[field->property] = std::move(*folded);
  }
  // What fills itself is part of the value, and not written here.
  const auto unwritten = [&](const Field& field) {
    return field.fills_itself && !json.contains(field.property);
  };
  if (std::ranges::any_of(fields, unwritten)) return std::nullopt;
  return json;
}

Folder::Folded Folder::value(CXCursor expression, CXType target, unsigned depth) {
  if (depth > kMaxDepth || !bindings_.step()) return std::nullopt;
  const CXType type = unwrapped(target);
  if (is_text(type)) return text(expression, depth + 1);
  const CXCursor at = strip(expression);
  if (is_number(type)) {
    const bool written = is_number(without_reference(clang_getCursorType(at)));
    const auto known = written ? number(at) : std::nullopt;
    return known && known->is_number() ? as_sent(*known, type) : known;
  }
  if (type.kind == CXType_Enum) {
    // A text that stands for an enumerator is looked up when the program is compiled.
    if (clang_getCursorKind(at) == CXCursor_StringLiteral) return text(at, depth + 1);
    const CXCursor enumerator = clang_getCursorReferenced(at);
    if (clang_getCursorKind(at) != CXCursor_DeclRefExpr ||
        clang_getCursorKind(enumerator) != CXCursor_EnumConstantDecl) {
      return std::nullopt;
    }
    auto named = Fields::enumerator_text(enumerator);
    return named ? std::optional<Json>(std::move(*named)) : std::nullopt;
  }
  if (is_named(type, "std::vector")) return array(at, type_argument(type, 0), depth + 1);
  if (is_generated(type)) return object(braced_list(at), type, depth + 1);
  return std::nullopt;
}

std::map<std::string, Argument> Folder::unknown_arguments(CXType args) {
  std::map<std::string, Argument> unknown;
  if (args.kind == CXType_Invalid || !is_generated(without_reference(args))) return unknown;
  const CXCursor record = clang_getCursorDefinition(declaration_of(without_reference(args)));
  for (const Field& field : fields_.of(record)) unknown[field.property] = {};
  return unknown;
}

std::optional<Folder::Arguments> Folder::one_call(CXCursor list, CXType record) {
  const auto& fields = fields_.of(clang_getCursorDefinition(declaration_of(record)));
  Arguments found;
  for (const Field& field : fields) {
    if (field.fills_itself) found[field.property] = {};
  }
  std::size_t position = 0;
  for (const CXCursor child : expressions_of(list)) {
    const auto item = item_of(child);
    const Field* field = nullptr;
    if (item && !item->field.empty()) field = Fields::find(fields, item->field);
    if (item && item->field.empty() && position < fields.size()) field = &fields[position];
    if (field == nullptr) return std::nullopt;
    position = static_cast<std::size_t>(field - fields.data()) + 1;
    auto folded = value(item->value, field->type, 0);
    found[field->property] = folded ? Argument{true, std::move(*folded)} : Argument{};
  }
  return found;
}

std::optional<std::vector<Folder::Arguments>> Folder::arguments(CXCursor expression, CXType args) {
  const CXType record = without_reference(args);
  const CXCursor list = braced_list(expression);
  if (clang_getCursorKind(list) != CXCursor_InitListExpr || !is_generated(record))
    return std::nullopt;
  std::vector<Arguments> calls;
  bindings_.first();
  do {
    auto call = one_call(list, record);
    if (!call) return std::nullopt;
    calls.push_back(std::move(*call));
  } while (bindings_.next());
  // Once more without the loops: what does not depend on them is still known.
  if (!bindings_.too_many()) return calls;
  auto call = one_call(list, record);
  if (!call) return std::nullopt;
  return std::vector{std::move(*call)};
}

}  // namespace mcpac::analyzer
