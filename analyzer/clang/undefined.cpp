// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/undefined.h"

#include <fmt/format.h>

#include "analyzer/clang/cx.h"
#include "analyzer/clang/plain.h"
#include "analyzer/object_symbols.h"

namespace mcpac::analyzer {
namespace {

// Names of C have rules of their own (replacements.h, outside.h).
bool is_of_cpp(CXCursor function) {
  return is_mangled(take(clang_Cursor_getMangling(function)));
}

// What the compiler writes where it is needed: default members of a class, conversions of a lambda.
bool is_of_compiler(CXCursor function) {
  const std::string owner = spelling(clang_getCursorSemanticParent(function));
  const bool of_lambda = clang_getCursorKind(function) == CXCursor_ConversionFunction &&
                         (owner.empty() || owner.front() == '(');
  return of_lambda || clang_CXXMethod_isDefaulted(function) != 0 ||
         clang_CXXMethod_isDeleted(function) != 0;
}

}  // namespace

std::string Undefined::message() const {
  return fmt::format("`{}` is declared, but defined in none of the given files", name);
}

void UndefinedChecker::on_node(CXCursor node, CXCursor parent, const Scope& scope) {
  const CXCursorKind kind = clang_getCursorKind(node);
  const bool names =
      kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr || kind == CXCursor_CallExpr;
  if (!names || scope.unevaluated || scope.in_template) return;
  const CXCursor function = clang_getCursorReferenced(node);
  const CXCursorKind what = clang_getCursorKind(function);
  // The call names nothing else that a reference below it does not name as well.
  const bool wanted = kind == CXCursor_CallExpr
                          ? what == CXCursor_Constructor
                          : what == CXCursor_FunctionDecl || what == CXCursor_CXXMethod ||
                                what == CXCursor_ConversionFunction;
  if (!wanted) return;
  const bool defined = exists(clang_getCursorDefinition(function)) ||
                       clang_CXXMethod_isPureVirtual(function) != 0 || is_of_compiler(function);
  // A template, or a member of one, is defined where it is made.
  if (defined || sources_.home(function) != Home::kProgram || is_made_from_template(function) ||
      !is_of_cpp(function))
    return;
  // An implicit conversion has no place of its own.
  const Place at = place_of(node);
  const Place place = at.line == 0 ? place_of(parent) : at;
  found_.try_emplace(analyzer::take(clang_getCursorUSR(function)),
                     Undefined{qualified_name(function), sources_.name(place.file), place});
}

}  // namespace mcpac::analyzer
