// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/forgery.h"

#include <fmt/format.h>

#include "analyzer/clang/kinds.h"

namespace mcpac::analyzer {
namespace {

bool is_ours(std::string_view name) {
  return name == "mcpac" || name == "mcp";
}

bool is_private(CXCursor member) {
  const CX_CXXAccessSpecifier access = clang_getCXXAccessSpecifier(member);
  return access == CX_CXXPrivate || access == CX_CXXProtected;
}

// Locals and parameters live in a function, an alias names but does not make.
bool declares_in_scope(CXCursorKind kind) {
  return clang_isDeclaration(kind) != 0 && kind != CXCursor_UsingDirective &&
         kind != CXCursor_UsingDeclaration && kind != CXCursor_ParmDecl &&
         kind != CXCursor_TemplateTypeParameter && kind != CXCursor_NonTypeTemplateParameter &&
         kind != CXCursor_TemplateTemplateParameter;
}

}  // namespace

void ForgeryChecker::on_declaration(CXCursor declaration) {
  const std::string outermost = outermost_namespace(declaration);
  if (!is_ours(outermost)) return;
  const std::string name = qualified_name(declaration);
  if (is_class(clang_getCursorKind(declaration)) &&
      (name == "mcpac::Requires" || name == "mcpac::Method" || name == "mcpac::Narrow" ||
       identity_.request().permissions.contains(name))) {
    findings_.add(
        "forged-type", declaration,
        fmt::format("`{}` is declared by the program, not by the generated headers", name),
        "remove the declaration and include <mcpac.hpp>");
  }
  findings_.add("reopened-namespace", declaration,
                fmt::format("`{}` belongs to the generated headers", outermost),
                "use a namespace of your own");
}

void ForgeryChecker::on_reference(CXCursor reference, CXCursorKind kind) {
  const CXCursor named = clang_getCursorReferenced(reference);
  if (!exists(named) || sources_.home(named) != Home::kHeaders) return;
  const bool member =
      kind == CXCursor_MemberRefExpr || kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRef;
  if (member && is_private(named)) {
    findings_.add("private-access", reference,
                  fmt::format("`{}` is private to the runtime", spelling(named)),
                  "use the public interface");
  }
  const bool spelled =
      kind == CXCursor_NamespaceRef || kind == CXCursor_TypeRef || kind == CXCursor_TemplateRef ||
      (kind == CXCursor_DeclRefExpr && clang_getCursorKind(named) == CXCursor_FunctionDecl);
  if (!spelled) return;
  const std::string name = qualified_name(named);
  const bool is_operator = spelling(named).starts_with("operator");
  const bool inside = name == "mcpac::detail" || name.starts_with("mcpac::detail::") ||
                      name == "mcpac::Session" || name == "mcpac::Pending";
  if (inside && !is_operator) {
    findings_.add("detail-name", reference, fmt::format("`{}` is the inside of the runtime", name),
                  "use what is declared in mcpac itself");
  }
  if (name == "mcpac::Method") {
    findings_.add("forged-type", reference, "a callable is named by its type, which could make one",
                  "call the tool through the Requires that the entry receives, or write auto");
  }
  if (name == "mcpac::connect") {
    findings_.add("connect-in-agent", reference,
                  "an agent gets its capability from its entry, not from connect",
                  "int agent_main(mcpac::Requires<…> rt)");
  }
}

// A Requires anywhere in the program must be the genuine one with genuine tags.
void ForgeryChecker::on_type_use(CXCursor node) {
  const CXType type = bare_type(clang_getCursorType(node));
  if (!identity_.is_requires(type)) return;
  for (const CXType permission : Identity::permissions_of(type)) {
    const CXCursor tag = clang_getTypeDeclaration(permission);
    // A parameter of a template that was not instantiated names no tag yet.
    if (!exists(tag) || clang_getCursorKind(tag) == CXCursor_NoDeclFound) continue;
    const auto authority = identity_.authority_of(permission);
    if (const auto* none = std::get_if<NoAuthority>(&authority))
      findings_.add(none->rule, node, none->message, none->fix);
  }
}

// `auto`, a template argument or a conversion template may have the connection without naming it.
void ForgeryChecker::on_type(CXCursor node, CXType type) {
  if (!connection_.reaches(type)) return;
  const Place place = place_of(node);
  if (!connected_.emplace(place.file, place.line).second) return;
  findings_.add("detail-name", node, "the connection to the gate is the inside of the runtime",
                "call tools through the Requires that the entry receives");
}

// mcpac::Method<…>(nullptr): a callable that no capability gave.
void ForgeryChecker::on_construction(CXCursor call) {
  const CXCursor constructor = clang_getCursorReferenced(call);
  if (!exists(constructor)) return;
  on_type(call, clang_getCursorType(clang_getCursorSemanticParent(constructor)));
  if (clang_getCursorKind(constructor) != CXCursor_Constructor) return;
  const CXType made = clang_getCursorType(clang_getCursorSemanticParent(constructor));
  const bool copies = clang_CXXConstructor_isCopyConstructor(constructor) != 0 ||
                      clang_CXXConstructor_isMoveConstructor(constructor) != 0;
  if (copies || !identity_.is_method(made)) return;
  findings_.add("forged-type", call, "a callable is made by hand",
                "call the tool through the Requires that the entry receives");
}

void ForgeryChecker::on_node(CXCursor node, CXCursor, const Scope&) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (kind == CXCursor_Namespace && is_ours(qualified_name(node))) {
    findings_.add("reopened-namespace", node,
                  fmt::format("`{}` belongs to the generated headers", spelling(node)),
                  "use a namespace of your own");
  } else if (declares_in_scope(kind)) {
    on_declaration(node);
  }
  if (kind == CXCursor_CXXBaseSpecifier &&
      identity_.is_method(bare_type(clang_getCursorType(node))))
    findings_.add("forged-type", node, "a class is made from a callable",
                  "keep the callable in a member, or call it where it is");
  if (kind == CXCursor_CallExpr) on_construction(node);
  if (clang_isExpression(kind) != 0 || clang_isDeclaration(kind) != 0)
    on_type(node, clang_getCursorType(node));
  if (clang_isExpression(kind) != 0 || clang_isReference(kind) != 0) on_reference(node, kind);
  if (kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl || kind == CXCursor_FieldDecl)
    on_type_use(node);
}

}  // namespace mcpac::analyzer
