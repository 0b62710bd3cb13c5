#include "analyzer/clang/fold.h"

#include <algorithm>
#include <type_traits>

#include "analyzer/clang/literals.h"

namespace mcpac::analyzer {
namespace {

// Expressions nest as deep as people write them; a value deeper than this is not worth knowing.
constexpr unsigned kMaxDepth = 64;

CXCursor declaration_of(CXType type) {
  return clang_getTypeDeclaration(clang_getCanonicalType(type));
}

bool is_named(CXType type, std::string_view name) {
  const CXCursor declaration = declaration_of(type);
  return exists(declaration) && qualified_name(declaration) == name;
}

bool is_text(CXType type) {
  if (is_named(type, "std::basic_string") || is_named(type, "std::basic_string_view")) return true;
  const CXType canonical = clang_getCanonicalType(type);
  const CXType to = canonical.kind == CXType_Pointer ? clang_getPointeeType(canonical)
                                                     : clang_getArrayElementType(canonical);
  const CXTypeKind kind = clang_getCanonicalType(to).kind;
  return kind == CXType_Char_S || kind == CXType_Char_U;
}

bool is_number(CXType type) {
  const CXTypeKind kind = clang_getCanonicalType(type).kind;
  return kind >= CXType_Bool && kind <= CXType_LongDouble && kind != CXType_WChar &&
         kind != CXType_Char_S && kind != CXType_Char_U;
}

// One initialiser of a braced list: `.name = value`, or a value by its position.
struct Item {
  std::string field;
  CXCursor value;
};

std::optional<Item> item_of(CXCursor child) {
  if (clang_getCursorKind(child) != CXCursor_UnexposedExpr) return Item{"", child};
  const auto parts = children(child);
  if (parts.empty() || clang_getCursorKind(parts.front()) != CXCursor_MemberRef)
    return Item{"", child};
  if (parts.size() != 2) return std::nullopt;  // .a.b = x, .a[1] = x
  return Item{spelling(parts.front()), parts.back()};
}

std::vector<CXCursor> expressions_of(CXCursor cursor) {
  auto found = children(cursor);
  std::erase_if(found,
                [](CXCursor child) { return clang_isExpression(clang_getCursorKind(child)) == 0; });
  return found;
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

Json to_json(const Number& number) {
  return std::visit([](auto value) { return Json(value); }, number);
}

}  // namespace

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

std::optional<Json> Folder::called_text(CXCursor call, unsigned depth) {
  const CXCursor function = clang_getCursorReferenced(call);
  if (!exists(function) || sources_.home(function) != Home::kSystem) return std::nullopt;
  if (outermost_namespace(function) != "std") return std::nullopt;
  auto operands = expressions_of(call);
  const std::string name = spelling(function);
  if (clang_getCursorKind(function) == CXCursor_Constructor) {
    const bool one = operands.size() == 1 && is_text(clang_getCursorType(call));
    return one ? text(operands.front(), depth) : std::nullopt;
  }
  // For an operator the callee stands among the operands.
  std::erase_if(operands, [&](CXCursor operand) {
    return same(clang_getCursorReferenced(operand), function);
  });
  if (name == "operator\"\"s" || name == "operator\"\"sv" || name == "operator\"\" s" ||
      name == "operator\"\" sv") {
    return operands.empty() ? std::nullopt : text(operands.front(), depth);
  }
  if (name == "operator+" && operands.size() == 2) {
    const auto left = text(operands.front(), depth);
    const auto right = text(operands.back(), depth);
    if (left && right) return left->get<std::string>() + right->get<std::string>();
    return std::nullopt;
  }
  // std::string to std::string_view
  if (clang_getCursorKind(function) == CXCursor_ConversionFunction && operands.size() == 1) {
    const auto inner = children(operands.front());
    return inner.size() == 1 ? text(inner.front(), depth) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Json> Folder::text(CXCursor expression, unsigned depth) {
  if (depth > kMaxDepth) return std::nullopt;
  const CXCursor at = strip(expression);
  switch (clang_getCursorKind(at)) {
    case CXCursor_StringLiteral: {
      auto literal = literal_text(at);
      return literal ? std::optional<Json>(std::move(*literal)) : std::nullopt;
    }
    case CXCursor_DeclRefExpr: {
      const CXCursor variable = clang_getCursorReferenced(at);
      if (!exists(variable) || !is_constant_variable(variable)) return std::nullopt;
      if (!is_text(clang_getCursorType(variable))) return std::nullopt;
      const CXCursor initialiser = clang_Cursor_getVarDeclInitializer(variable);
      return exists(initialiser) ? text(initialiser, depth + 1) : std::nullopt;
    }
    case CXCursor_CXXFunctionalCastExpr: {
      const auto inner = expressions_of(at);
      const bool one = inner.size() == 1 && is_text(clang_getCursorType(at));
      return one ? text(inner.front(), depth + 1) : std::nullopt;
    }
    case CXCursor_CallExpr: return called_text(at, depth + 1);
    case CXCursor_InitListExpr: {
      const auto inner = expressions_of(at);
      return inner.size() == 1 ? text(inner.front(), depth + 1) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

std::optional<Json> Folder::array(CXCursor list, CXType element, unsigned depth) {
  if (clang_getCursorKind(list) != CXCursor_InitListExpr) return std::nullopt;
  Json json = Json::array();
  for (const CXCursor child : expressions_of(list)) {
    auto folded = value(child, element, depth);
    if (!folded) return std::nullopt;
    json.push_back(std::move(*folded));
  }
  return json;
}

std::optional<Json> Folder::object(CXCursor list, CXType record, unsigned depth) {
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

std::optional<Json> Folder::value(CXCursor expression, CXType target, unsigned depth) {
  if (depth > kMaxDepth) return std::nullopt;
  const CXType type = unwrapped(target);
  if (is_text(type)) return text(expression, depth + 1);
  const CXCursor at = strip(expression);
  if (is_number(type)) {
    const CXType written = without_reference(clang_getCursorType(at));
    if (!is_number(written)) return std::nullopt;
    const auto number = constant_number(at);
    return number ? std::optional<Json>(to_json(*number)) : std::nullopt;
  }
  if (type.kind == CXType_Enum) {
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

std::optional<std::map<std::string, Argument>> Folder::arguments(CXCursor expression, CXType args) {
  const CXType record = without_reference(args);
  const CXCursor list = braced_list(expression);
  if (clang_getCursorKind(list) != CXCursor_InitListExpr || !is_generated(record))
    return std::nullopt;
  const auto& fields = fields_.of(clang_getCursorDefinition(declaration_of(record)));
  std::map<std::string, Argument> found;
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

}  // namespace mcpac::analyzer
