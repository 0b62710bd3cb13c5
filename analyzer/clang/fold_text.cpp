// Folding of an argument's text: literals, constants, elements of lists, choices by a
// constant, and what calls give (fold_calls.cpp).
#include <array>
#include <vector>

#include "analyzer/clang/constancy.h"
#include "analyzer/clang/fold.h"
#include "analyzer/clang/literals.h"
#include "analyzer/clang/named_constants.h"
#include "analyzer/clang/plain.h"

namespace mcpac::analyzer {
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
