// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/fold.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/clang/constancy.h"
#include "analyzer/clang/literals.h"
#include "analyzer/clang/named_constants.h"
#include "analyzer/clang/plain.h"
#include "analyzer/word_list.h"

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

namespace {

using namespace std::string_view_literals;
constexpr std::array kLiteralOperators{"operator\"\"s"sv, "operator\"\"sv"sv, "operator\"\" s"sv,
                                       "operator\"\" sv"sv};
constexpr std::array kSameText{"c_str"sv, "data"sv};

// The operands of a call without the callee, which stands among them.
std::vector<CXCursor> operands_of(CXCursor call, CXCursor function) {
  auto operands = expressions_of(call);
  std::erase_if(operands, [function](CXCursor operand) {
    return same(clang_getCursorReferenced(operand), function);
  });
  return operands;
}

// The expression of a function whose body is `return expression;`.
CXCursor only_expression(CXCursor definition, CXCursor& body) {
  CXCursor found = clang_getNullCursor();
  each_child(definition, [&](CXCursor part) {
    if (clang_getCursorKind(part) == CXCursor_CompoundStmt) body = part;
  });
  if (!exists(body)) return found;
  const auto statements = children(body);
  if (statements.size() != 1 || clang_getCursorKind(statements.front()) != CXCursor_ReturnStmt)
    return found;
  const auto returned = expressions_of(statements.front());
  return returned.size() == 1 ? returned.front() : found;
}

}  // namespace

// Functions of the standard library, by what they are known to do with text.
Folder::Folded Folder::library_text(CXCursor call, CXCursor function, unsigned depth) {
  const std::string name = spelling(function);
  if (clang_getCursorKind(function) == CXCursor_Constructor) {
    const auto operands = expressions_of(call);
    const bool one = operands.size() == 1 && is_text(clang_getCursorType(call));
    return one ? text(operands.front(), depth) : std::nullopt;
  }
  if (among(kLiteralOperators, name)) {
    const auto operands = operands_of(call, function);
    return operands.empty() ? std::nullopt : text(operands.front(), depth);
  }
  if (name == "operator+") {
    const auto operands = operands_of(call, function);
    return operands.size() == 2 ? text_of_parts(operands, depth) : std::nullopt;
  }
  if (name == "operator[]") {
    const auto operands = operands_of(call, function);
    return operands.size() == 2 ? element_text(operands[0], operands[1], depth) : std::nullopt;
  }
  // std::string to std::string_view or const char*
  const bool same_text =
      clang_getCursorKind(function) == CXCursor_ConversionFunction || among(kSameText, name);
  const CXCursor object = same_text ? object_of(call) : clang_getNullCursor();
  return exists(object) ? text(object, depth) : std::nullopt;
}

// Parameters stand for the values that this call gives them. What may change one on the way makes
// it unknown; everything else that a return statement can do is no text that folds.
Folder::Folded Folder::text_of_function(CXCursor call, CXCursor function, unsigned depth) {
  const CXCursor definition = clang_getCursorDefinition(function);
  if (clang_getCursorKind(function) != CXCursor_FunctionDecl || !exists(definition) ||
      clang_Cursor_isVariadic(definition) != 0 || !bindings_.knows_variables() ||
      !is_text(without_reference(clang_getCursorResultType(definition)))) {
    return std::nullopt;
  }
  // The linker may take it from another file.
  if (bindings_.only_plain() && !is_of_this_file(definition)) return std::nullopt;
  CXCursor body = clang_getNullCursor();
  const CXCursor returned = only_expression(definition, body);
  const int count = clang_Cursor_getNumArguments(definition);
  if (!exists(returned) || clang_Cursor_getNumArguments(call) != count) return std::nullopt;
  Parameters parameters;
  for (int i = 0; i < count; ++i) {
    const CXCursor parameter = clang_Cursor_getArgument(definition, static_cast<unsigned>(i));
    const CXCursor given = clang_Cursor_getArgument(call, static_cast<unsigned>(i));
    const CXType type = clang_getCanonicalType(clang_getCursorType(parameter));
    Folded value;
    if (exists(given) && is_only_read(body, parameter, sources_)) {
      if (is_text(without_reference(type))) {
        value = text(given, depth);
      } else if (auto known = number_here(given)) {
        // With the conversion to the parameter's type, which is part of the expression.
        const bool converted = clang_equalTypes(
            clang_getUnqualifiedType(clang_getCanonicalType(clang_getCursorType(given))),
            clang_getUnqualifiedType(type));
        if (converted) value = std::move(known);
      }
    }
    parameters.emplace_back(parameter, std::move(value));
  }
  bindings_.enter(std::move(parameters));
  auto folded = text(returned, depth);
  bindings_.leave();
  return folded;
}

Folder::Folded Folder::called_text(CXCursor call, unsigned depth) {
  const CXCursor function = clang_getCursorReferenced(call);
  if (!exists(function)) return std::nullopt;
  const Home home = sources_.home(function);
  if (home == Home::kProgram) return text_of_function(call, function, depth);
  const bool library = home == Home::kSystem && outermost_namespace(function) == "std";
  return library ? library_text(call, function, depth) : std::nullopt;
}

namespace {

// Longer texts are content, not names; and a constant that doubles the one before it grows fast.
constexpr std::size_t kMaxFoldedText = 8192;

constexpr unsigned kDeepestText = 64;

// Whether a value comes from a call, also by way of the constants that it names.
class CallFinder {
 public:
  bool is_called_for(CXCursor expression) {
    search(expression, 0);
    while (!found_) {
      const auto initialiser = constants_.next_initialiser();
      if (!initialiser) break;
      if (exists(*initialiser)) search(*initialiser, 0);
    }
    return found_;
  }

 private:
  void search(CXCursor node, unsigned depth) {
    if (found_) return;
    const CXCursorKind kind = clang_getCursorKind(node);
    found_ = kind == CXCursor_CallExpr || depth > kDeepestText;
    if (kind == CXCursor_DeclRefExpr) {
      const CXCursor named = clang_getCursorReferenced(node);
      if (clang_getCursorKind(named) == CXCursor_VarDecl && !constants_.add(named)) found_ = true;
    }
    each_child(node, [&](CXCursor child) { search(child, depth + 1); });
  }

  NamedConstants constants_;
  bool found_ = false;
};

}  // namespace

// The value of an expression that needs no bindings.
Folder::Folded Folder::number_here(CXCursor expression) const {
  if (bindings_.only_plain() && !is_plain(expression)) return std::nullopt;
  const auto known = constant_number(expression);
  return known ? Folded(to_json(*known)) : std::nullopt;
}

Folder::Folded Folder::number(CXCursor expression) {
  const CXCursor at = strip(expression);
  if (clang_getCursorKind(at) == CXCursor_DeclRefExpr) {
    const CXCursor variable = clang_getCursorReferenced(at);
    if (const auto* given = bindings_.parameter(variable))
      return *given && !(*given)->is_string() ? *given : std::nullopt;
    if (const auto element = bindings_.element(variable)) {
      return number_here(strip(*element));
    }
  }
  if (CallFinder().is_called_for(at)) {
    // Rounding, and a function that asks when it is evaluated, are the run's affair.
    const CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(at)).kind;
    const bool real = kind == CXType_Float || kind == CXType_Double || kind == CXType_LongDouble;
    if (real || !bindings_.knows_variables()) return std::nullopt;
  }
  if (auto known = number_here(at)) return known;
  return clang_getCursorKind(at) == CXCursor_BinaryOperator ? compared(at) : std::nullopt;
}

// A comparison that clang cannot evaluate because a parameter or a loop's variable is in it. Only
// of signed integers and bools that nothing converts on the way.
Folder::Folded Folder::compared(CXCursor comparison) {
  const auto parts = expressions_of(comparison);
  if (parts.size() != 2) return std::nullopt;
  std::array<std::int64_t, 2> values{};
  for (std::size_t i = 0; i < 2; ++i) {
    const CXType type =
        clang_getUnqualifiedType(clang_getCanonicalType(clang_getCursorType(parts[i])));
    const CXType written =
        clang_getUnqualifiedType(clang_getCanonicalType(clang_getCursorType(strip(parts[i]))));
    const bool plain =
        type.kind == CXType_Int || type.kind == CXType_Long || type.kind == CXType_Bool;
    if (!plain || clang_equalTypes(type, written) == 0) return std::nullopt;
    const auto value = number(parts[i]);
    if (!value || value->is_number_float()) return std::nullopt;
    values[i] = value->is_boolean() ? static_cast<std::int64_t>(value->get<bool>())
                                    : value->get<std::int64_t>();
  }
  switch (clang_getCursorBinaryOperatorKind(comparison)) {
    case CXBinaryOperator_LT: return values[0] < values[1];
    case CXBinaryOperator_GT: return values[0] > values[1];
    case CXBinaryOperator_LE: return values[0] <= values[1];
    case CXBinaryOperator_GE: return values[0] >= values[1];
    case CXBinaryOperator_EQ: return values[0] == values[1];
    case CXBinaryOperator_NE: return values[0] != values[1];
    default: return std::nullopt;
  }
}

Folder::Folded Folder::named_text(CXCursor reference, unsigned depth) {
  const CXCursor variable = clang_getCursorReferenced(reference);
  if (!exists(variable) || !is_text(without_reference(clang_getCursorType(variable))))
    return std::nullopt;
  if (const auto* given = bindings_.parameter(variable))
    return *given && (*given)->is_string() ? *given : std::nullopt;
  if (const auto element = bindings_.element(variable)) return text(*element, depth);
  if (!bindings_.knows_variables() || !is_never_assigned(variable)) return std::nullopt;
  if (bindings_.only_plain() && is_made_from_template(variable)) return std::nullopt;
  const CXCursor initialiser = clang_Cursor_getVarDeclInitializer(variable);
  if (!exists(initialiser)) return std::nullopt;
  // A static variable keeps what its first initialisation gave it.
  const bool once = clang_Cursor_getStorageClass(variable) == CX_SC_Static ||
                    clang_getCursorTLSKind(variable) != CXTLS_None;
  if (once) bindings_.hide();
  auto folded = text(initialiser, depth);
  if (once) bindings_.show();
  return folded;
}

// A condition that is known before the run; the other branch is not looked at.
Folder::Folded Folder::chosen_text(CXCursor conditional, unsigned depth) {
  const auto parts = expressions_of(conditional);
  if (parts.size() != 3) return std::nullopt;
  const auto condition = number(parts.front());
  if (!condition || !condition->is_boolean()) return std::nullopt;
  return text(condition->get<bool>() ? parts[1] : parts[2], depth);
}

Folder::Folded Folder::text_of_parts(const std::vector<CXCursor>& parts, unsigned depth) {
  std::string whole;
  for (const CXCursor part : parts) {
    const bool readable = !bindings_.only_plain() || is_plain(strip(part));
    if (const auto one = constant_char(strip(part)); one && readable) {
      whole.push_back(*one);
    } else if (const auto folded = text(part, depth)) {
      whole += folded->get<std::string>();
    } else {
      return std::nullopt;
    }
    if (whole.size() > kMaxFoldedText) return std::nullopt;
  }
  return whole;
}

Folder::Folded Folder::element_text(CXCursor list, CXCursor index, unsigned depth) {
  const auto at = number(index);
  if (!at || !at->is_number_integer()) return std::nullopt;
  const auto elements = elements_of(list, bindings_.variables());
  if (!elements || !is_text(elements->type) ||
      is_named(without_reference(clang_getCursorType(strip(list))), "std::set"))
    return std::nullopt;
  const bool inside =
      at->get<std::int64_t>() >= 0 && at->get<std::uint64_t>() < elements->expressions.size();
  return inside ? text(elements->expressions[at->get<std::size_t>()], depth) : std::nullopt;
}

Folder::Folded Folder::text(CXCursor expression, unsigned depth) {
  if (depth > kDeepestText || !bindings_.step()) return std::nullopt;
  const CXCursor at = strip(expression);
  switch (clang_getCursorKind(at)) {
    case CXCursor_StringLiteral: {
      auto literal = literal_text(at);
      return literal ? Folded(std::move(*literal)) : std::nullopt;
    }
    case CXCursor_DeclRefExpr: return named_text(at, depth + 1);
    case CXCursor_ConditionalOperator: return chosen_text(at, depth + 1);
    case CXCursor_CallExpr: return called_text(at, depth + 1);
    case CXCursor_CXXFunctionalCastExpr: {
      const auto inner = expressions_of(at);
      const bool one = inner.size() == 1 && is_text(clang_getCursorType(at));
      return one ? text(inner.front(), depth + 1) : std::nullopt;
    }
    case CXCursor_InitListExpr: {
      const auto inner = expressions_of(at);
      return inner.size() == 1 ? text(inner.front(), depth + 1) : std::nullopt;
    }
    case CXCursor_ArraySubscriptExpr: {
      const auto parts = expressions_of(at);
      return parts.size() == 2 ? element_text(strip(parts[0]), parts[1], depth + 1) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

}  // namespace mcpac::analyzer
