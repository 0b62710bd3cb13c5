#include "analyzer/clang/walker.h"

namespace mcpac::analyzer {
namespace {

// Far beyond what people nest, and far below what the stack of the worker holds.
constexpr unsigned kMaxDepth = 2000;

bool is_function(CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
         kind == CXCursor_Constructor || kind == CXCursor_Destructor ||
         kind == CXCursor_ConversionFunction || kind == CXCursor_FunctionTemplate;
}

bool is_template(CXCursorKind kind) {
  return kind == CXCursor_FunctionTemplate || kind == CXCursor_ClassTemplate ||
         kind == CXCursor_ClassTemplatePartialSpecialization;
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
  if (is_template(kind)) below.in_template = true;
  if (kind == CXCursor_LambdaExpr && !below.in_template)
    below.in_template = is_generic_lambda(node);
  const bool stays =
      kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl;
  below.at_namespace = scope.at_namespace && stays;
  return below;
}

void Walker::visit(CXCursor node, CXCursor parent, const Scope& scope) {
  if (scope.depth > kMaxDepth) {
    findings_.add("too-deep", node, "this is nested too deeply to be analysed", "split it up");
    return;
  }
  for (Checker* checker : checkers_) checker->on_node(node, parent, scope);
  const Scope below = scope_below(node, scope);
  each_child(node, [&](CXCursor child) { visit(child, node, below); });
}

void Walker::walk(CXTranslationUnit unit) {
  const CXCursor root = clang_getTranslationUnitCursor(unit);
  each_child(root, [&](CXCursor node) {
    const Home home = sources_.home(node);
    // The instantiation of a system template stands in the system's header and runs its code.
    if (home == Home::kHeaders || home == Home::kSystem) return;
    visit(node, root, Scope{});
  });
}

}  // namespace mcpac::analyzer
