#include "analyzer/clang/undefined.h"

#include <fmt/format.h>

#include "analyzer/clang/cx.h"
#include "analyzer/object_symbols.h"

namespace mcpac::analyzer {
namespace {

// A template, or a member of one, is defined where it is made.
bool is_made_from_template(CXCursor function) {
  for (CXCursor at = function; exists(at) && clang_isDeclaration(clang_getCursorKind(at)) != 0;
       at = clang_getCursorSemanticParent(at)) {
    const CXCursorKind kind = clang_getCursorKind(at);
    if (kind == CXCursor_ClassTemplate || kind == CXCursor_FunctionTemplate ||
        kind == CXCursor_ClassTemplatePartialSpecialization ||
        exists(clang_getSpecializedCursorTemplate(at)))
      return true;
  }
  return false;
}

// Names of C have rules of their own (replacements.h, outside.h).
bool is_of_cpp(CXCursor function) {
  return is_mangled(take(clang_Cursor_getMangling(function)));
}

}  // namespace

std::string Undefined::message() const {
  return fmt::format("`{}` is declared, but defined in none of the given files", name);
}

void UndefinedChecker::on_node(CXCursor node, CXCursor, const Scope& scope) {
  const CXCursorKind kind = clang_getCursorKind(node);
  const bool names = kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr;
  if (!names || scope.unevaluated || scope.in_template) return;
  const CXCursor function = clang_getCursorReferenced(node);
  const CXCursorKind what = clang_getCursorKind(function);
  if (what != CXCursor_FunctionDecl && what != CXCursor_CXXMethod) return;
  const bool defined =
      exists(clang_getCursorDefinition(function)) || clang_CXXMethod_isPureVirtual(function) != 0;
  if (defined || sources_.home(function) != Home::kProgram || is_made_from_template(function) ||
      !is_of_cpp(function))
    return;
  const Place place = place_of(node);
  found_.try_emplace(analyzer::take(clang_getCursorUSR(function)),
                     Undefined{qualified_name(function), sources_.name(place.file), place});
}

}  // namespace mcpac::analyzer
