// Calls that give text: functions of the standard library that are known by name, and functions of
// the program that are one expression. The latter are looked into, never run.
#include <array>
#include <string_view>
#include <utility>

#include "analyzer/clang/constancy.h"
#include "analyzer/clang/fold.h"
#include "analyzer/clang/plain.h"
#include "analyzer/word_list.h"

namespace mcpac::analyzer {
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

}  // namespace mcpac::analyzer
