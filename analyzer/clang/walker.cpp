// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/walker.h"

#include <clang-c/Index.h>

#include <algorithm>
#include <string>

#include "analyzer/clang/cx.h"
#include "analyzer/clang/kinds.h"

namespace mcpac::analyzer {
namespace {

// Unevaluated: code that never runs: the operands of sizeof and noexcept, and the types that
// aliases name.
//
// In doubt something counts as run: where a macro made the operator, or an array's length is only
// known at run time, which even sizeof computes. The body of a lambda runs wherever the lambda
// stands.
[[nodiscard]] bool is_never_run(CXCursor node);
// Whether `child` is part of the type that `declaration` has, and so is never run.
[[nodiscard]] bool is_in_type_of(CXCursor declaration, CXCursor child);

// Deeper trees are refused by the walker (rule too-deep).
constexpr unsigned kDeepestOperand = 2000;

bool has_length_at_run_time(CXType type) {
  type = clang_getCanonicalType(type);
  switch (type.kind) {
    case CXType_VariableArray: return true;
    case CXType_MemberPointer: return has_length_at_run_time(clang_getPointeeType(type));
    case CXType_Atomic: return has_length_at_run_time(clang_Type_getValueType(type));
    case CXType_FunctionProto:
      for (int i = 0; i < clang_getNumArgTypes(type); ++i) {
        if (has_length_at_run_time(clang_getArgType(type, static_cast<unsigned>(i)))) return true;
      }
      return has_length_at_run_time(clang_getResultType(type));
    default: break;
  }
  if (is_pointer_like(type)) return has_length_at_run_time(clang_getPointeeType(type));
  const CXType element = clang_getArrayElementType(type);
  return element.kind != CXType_Invalid && has_length_at_run_time(element);
}

bool has_length_at_run_time(CXCursor node, unsigned depth) {
  if (depth > kDeepestOperand || has_length_at_run_time(clang_getCursorType(node))) return true;
  bool found = false;
  each_child(node,
             [&](CXCursor child) { found = found || has_length_at_run_time(child, depth + 1); });
  return found;
}

// Of sizeof an expression, not a type: that begins behind the word itself.
bool is_of_expression(CXCursor node, CXCursor operand) {
  const CXTranslationUnit unit = clang_Cursor_getTranslationUnit(node);
  CXToken* tokens = nullptr;
  unsigned count = 0;
  clang_tokenize(unit, clang_getCursorExtent(node), &tokens, &count);
  bool fits = false;
  if (count > 1) {
    const std::string word = take(clang_getTokenSpelling(unit, tokens[0]));
    const unsigned second = place_of(clang_getTokenLocation(unit, tokens[1])).offset;
    const unsigned begin = place_of(clang_getRangeStart(clang_getCursorExtent(operand))).offset;
    fits = word == "noexcept" || (word == "sizeof" && second == begin);
  }
  clang_disposeTokens(unit, tokens, count);
  return fits;
}

// The operand of a decltype in the type of what is declared stands before the name of that; what is
// run to initialise it stands behind.
bool is_in_type_of(CXCursor declaration, CXCursor child) {
  const CXCursorKind kind = clang_getCursorKind(declaration);
  const bool declares = kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl ||
                        kind == CXCursor_FieldDecl || kind == CXCursor_FunctionDecl ||
                        kind == CXCursor_CXXMethod;
  if (!declares || clang_isExpression(clang_getCursorKind(child)) == 0) return false;
  const Place name = place_of(declaration);
  const Place from = place_of(clang_getRangeStart(clang_getCursorExtent(child)));
  const Place to = place_of(clang_getRangeEnd(clang_getCursorExtent(child)));
  return from.file == name.file && to.file == name.file && from.offset < to.offset &&
         to.offset < name.offset && !has_length_at_run_time(clang_getCursorType(declaration)) &&
         !has_length_at_run_time(child, 0);
}

bool is_never_run(CXCursor node) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (kind == CXCursor_TypeAliasDecl || kind == CXCursor_TypedefDecl)
    return !has_length_at_run_time(clang_getTypedefDeclUnderlyingType(node));
  if (kind != CXCursor_UnaryExpr || is_from_macro(node)) return false;
  const auto operands = expressions_of(node);
  return operands.size() == 1 && children(node).size() == 1 && !is_from_macro(operands.front()) &&
         is_of_expression(node, operands.front()) && !has_length_at_run_time(operands.front(), 0);
}

}  // namespace

namespace {

// Far beyond what people nest, and far below what the stack of the worker holds.
constexpr unsigned kDeepestNode = 2000;
// Every name is as long as the namespaces and classes around it are many, so that they cost the
// square of their number; the deepest of libraries has a dozen.
constexpr unsigned kMaxScopes = 64;

// What may hold code and be named from elsewhere; libclang has no kind for what was made from a
// variable template.
bool is_body_of_its_own(CXCursorKind kind) {
  return kind == CXCursor_VarDecl || kind == CXCursor_UnexposedDecl ||
         (is_function(kind) && kind != CXCursor_FunctionTemplate);
}

// A lambda with an auto parameter or a template list: its body as written depends on types.
bool is_generic_lambda(CXCursor node) {
  bool generic = false;
  each_child(node, [&generic](CXCursor child) {
    const CXCursorKind kind = clang_getCursorKind(child);
    if (kind == CXCursor_TemplateTypeParameter || kind == CXCursor_NonTypeTemplateParameter)
      generic = true;
    if (kind != CXCursor_ParmDecl) return;
    each_child(child, [&generic](CXCursor type) {
      const CXCursor named = clang_getCursorReferenced(type);
      generic = generic || clang_getCursorKind(named) == CXCursor_TemplateTypeParameter;
    });
  });
  return generic;
}

}  // namespace

Scope Walker::scope_below(CXCursor node, const Scope& scope) {
  const CXCursorKind kind = clang_getCursorKind(node);
  Scope below = scope;
  ++below.depth;
  if (is_function(kind)) below.function = qualified_name(node);
  if (kind == CXCursor_Namespace || is_class(kind)) ++below.scopes;
  if (is_template_with_body(kind)) below.in_template = true;
  if (kind == CXCursor_ConceptDecl || kind == CXCursor_RequiresExpr) below.unevaluated = true;
  if (is_never_run(node)) below.unevaluated = true;
  // A body runs when it is called, and a class has initialisers, wherever they stand.
  if (kind == CXCursor_LambdaExpr || is_function(kind) || is_class(kind)) below.unevaluated = false;
  if (kind == CXCursor_LambdaExpr && !below.in_template)
    below.in_template = is_generic_lambda(node);
  const bool stays =
      kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl;
  below.at_namespace = scope.at_namespace && stays;
  return below;
}

void Walker::visit(CXCursor node, CXCursor parent, const Scope& scope) {
  if (scope.depth > kDeepestNode || scope.scopes > kMaxScopes) {
    findings_.add("too-deep", node, "this is nested too deeply to be analysed", "split it up");
    return;
  }
  remember(node);
  for (Checker* checker : checkers_) checker->on_node(node, parent, scope);
  const Scope below = scope_below(node, scope);
  each_child(node, [&](CXCursor child) {
    if (!is_in_type_of(node, child)) return visit(child, node, below);
    Scope in_type = below;
    in_type.unevaluated = true;
    visit(child, node, in_type);
  });
}

void Walker::remember(CXCursor node) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (is_body_of_its_own(kind)) visited_.emplace(clang_hashCursor(node), node);
  if (clang_isExpression(kind) == 0) return;
  const CXCursor named = clang_getCursorReferenced(node);
  if (exists(named) && is_body_of_its_own(clang_getCursorKind(named))) named_.push_back(named);
}

bool Walker::is_visited(CXCursor declaration) const {
  const auto [from, to] = visited_.equal_range(clang_hashCursor(declaration));
  return std::any_of(from, to,
                     [declaration](const auto& entry) { return same(entry.second, declaration); });
}

void Walker::walk(CXTranslationUnit unit) {
  const CXCursor root = clang_getTranslationUnitCursor(unit);
  each_child(root, [&](CXCursor node) {
    const Home home = sources_.home(node);
    // The instantiation of a system template stands in the system's header and runs its code.
    if (home == Home::kHeaders || home == Home::kSystem) return;
    visit(node, root, Scope{});
  });
  while (!named_.empty()) {
    CXCursor named = named_.back();
    named_.pop_back();
    const CXCursor definition = clang_getCursorDefinition(named);
    if (exists(definition)) named = definition;
    const Home home = sources_.home(named);
    if (home == Home::kHeaders || home == Home::kSystem) continue;
    if (clang_isCursorDefinition(named) == 0 || is_visited(named)) continue;
    // What clang makes for a loop or a coroutine belongs to the function around it.
    if (is_function(clang_getCursorKind(clang_getCursorSemanticParent(named)))) continue;
    visit(named, clang_getCursorSemanticParent(named), Scope{});
  }
}

}  // namespace mcpac::analyzer
