// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/identity.h"

#include <fmt/format.h>

#include "analyzer/clang/kinds.h"
#include "analyzer/clang/literals.h"

namespace mcpac::analyzer {
namespace {

CXType base_named(CXCursor record, auto&& matches) {
  CXType found{CXType_Invalid, {nullptr, nullptr}};
  each_child(record, [&](CXCursor child) {
    if (clang_getCursorKind(child) != CXCursor_CXXBaseSpecifier) return;
    const CXType base = clang_getCanonicalType(clang_getCursorType(child));
    if (matches(base)) found = base;
  });
  return found;
}

// template <class Tool> struct below : mcpac::Narrow<Tool>: libclang shows the inside of the
// template, not that of what was made from it. The type that `made` has in Tool's place; invalid
// where the base is anything but one parameter.
CXType argument_for_base(CXCursor base, CXCursor made_from, CXType made) {
  const CXType none{CXType_Invalid, {nullptr, nullptr}};
  std::vector<CXCursor> types;
  bool plain = true;
  each_child(base, [&](CXCursor part) {
    const CXCursorKind kind = clang_getCursorKind(part);
    if (kind == CXCursor_TypeRef) types.push_back(clang_getCursorReferenced(part));
    const bool names = kind == CXCursor_TypeRef || kind == CXCursor_NamespaceRef;
    plain = plain && (names || (kind == CXCursor_TemplateRef &&
                                spelling(clang_getCursorReferenced(part)) == "Narrow"));
  });
  if (!plain || types.size() != 1) return none;
  unsigned position = 0;
  CXType found = none;
  each_child(made_from, [&](CXCursor child) {
    if (!is_template_parameter(clang_getCursorKind(child))) return;
    if (same(child, types.front())) found = type_argument(made, position);
    ++position;
  });
  return found;
}

CXCursor where_of(CXCursor record) {
  CXCursor found = clang_getNullCursor();
  each_child(record, [&](CXCursor child) {
    if (clang_getCursorKind(child) == CXCursor_VarDecl && spelling(child) == "where") found = child;
  });
  return found;
}

// A Narrow that has more than its condition could answer for another tool (`permission`, `Member`).
std::string other_member(CXCursor record) {
  std::string found;
  each_child(record, [&found](CXCursor child) {
    const CXCursorKind kind = clang_getCursorKind(child);
    const bool harmless = kind == CXCursor_CXXBaseSpecifier || clang_isAttribute(kind) != 0 ||
                          is_template_parameter(kind) || kind == CXCursor_CXXAccessSpecifier ||
                          spelling(child) == "where";
    if (clang_isDeclaration(kind) != 0 && !harmless) found = spelling(child);
  });
  return found;
}

}  // namespace

// Every declaration counts: a forged one before or after the genuine one is still a forgery, and
// the template behind a specialisation must be genuine as well as the specialisation itself.
bool Identity::declared_in_headers(CXCursor declaration) const {
  if (!exists(declaration)) return false;
  const auto in_headers = [this](CXCursor at) { return sources_.home(at) == Home::kHeaders; };
  if (!in_headers(declaration) || !in_headers(clang_getCanonicalCursor(declaration))) return false;
  const CXCursor definition = clang_getCursorDefinition(declaration);
  if (exists(definition) && !in_headers(definition)) return false;
  // A specialisation that nothing needed complete has no definition; its template has.
  const CXCursor made_from = clang_getSpecializedCursorTemplate(declaration);
  if (!exists(made_from)) return exists(definition);
  const CXCursor defined = clang_getCursorDefinition(made_from);
  return in_headers(made_from) && in_headers(clang_getCanonicalCursor(made_from)) &&
         exists(defined) && in_headers(defined);
}

bool Identity::is_runtime(CXType type, std::string_view name) const {
  const CXCursor declaration = declaration_of(type);
  return exists(declaration) && qualified_name(declaration) == name &&
         declared_in_headers(declaration);
}

std::optional<std::string> Identity::tag_permission(CXCursor declaration) const {
  const auto found = request_.permissions.find(qualified_name(declaration));
  if (found == request_.permissions.end() || !declared_in_headers(declaration)) return std::nullopt;
  return found->second;
}

std::variant<Authority, NoAuthority> Identity::narrowed(CXCursor declaration, CXType tool) const {
  const std::string name = spelling(declaration);
  const auto tag = tag_permission(declaration_of(tool));
  if (!tag) {
    return NoAuthority{"unknown-permission",
                       fmt::format("`{}` narrows what is no locked tool", name),
                       "narrow a tool of a generated header: mcpac::Narrow<mcp::server::tool>"};
  }
  if (const std::string other = other_member(declaration); !other.empty()) {
    return NoAuthority{
        "forged-type",
        fmt::format("`{}` has the member `{}`; a Narrow has only `where`", name, other),
        exists(where_of(declaration))
            ? "remove the member"
            : "did you mean `where`? static constexpr char where[] = \"path within ./data\";"};
  }
  const CXCursor where = where_of(declaration);
  const auto text = exists(where) ? constant_text(where) : std::nullopt;
  if (!text || text->empty()) {
    return NoAuthority{"narrow-where",
                       fmt::format("the condition of `{}` is not known before the run", name),
                       "static constexpr char where[] = \"path within ./data\";"};
  }
  return Authority{*tag, *text};
}

std::variant<Authority, NoAuthority> Identity::authority_of(CXType permission) const {
  const CXCursor declaration = clang_getCursorDefinition(declaration_of(permission));
  if (exists(declaration)) {
    if (const auto tag = tag_permission(declaration)) return Authority{*tag, ""};
    const auto is_narrow = [this](CXType base) { return is_runtime(base, "mcpac::Narrow"); };
    const CXType base = base_named(declaration, is_narrow);
    if (base.kind != CXType_Invalid) return narrowed(declaration, type_argument(base, 0));
    const CXCursor made_from = clang_getSpecializedCursorTemplate(declaration);
    if (clang_getCursorKind(made_from) == CXCursor_ClassTemplate) {
      CXType tool{CXType_Invalid, {nullptr, nullptr}};
      each_child(clang_getCursorDefinition(made_from), [&](CXCursor child) {
        if (clang_getCursorKind(child) == CXCursor_CXXBaseSpecifier &&
            is_narrow(clang_getCursorType(child))) {
          tool = argument_for_base(child, clang_getCursorDefinition(made_from), permission);
        }
      });
      if (tool.kind != CXType_Invalid) return narrowed(clang_getCursorDefinition(made_from), tool);
    }
  }
  const std::string name = take(clang_getTypeSpelling(permission));
  const bool forged = request_.permissions.contains(qualified_name(declaration)) ||
                      outermost_namespace(declaration) == "mcp";
  return NoAuthority{forged ? "forged-type" : "unknown-permission",
                     fmt::format("`{}` is not a tool of the generated headers", name),
                     "use the tag of a generated header: mcp::server::tool"};
}

std::vector<CXType> Identity::permissions_of(CXType type) {
  std::vector<CXType> permissions;
  type = clang_getCanonicalType(type);
  const int count = clang_Type_getNumTemplateArguments(type);
  for (int i = 0; i < count; ++i)
    permissions.push_back(type_argument(type, static_cast<unsigned>(i)));
  return permissions;
}

std::optional<std::string> Identity::method_permission(CXType method) const {
  const auto authority = authority_of(type_argument(clang_getCanonicalType(method), 0));
  const auto* held = std::get_if<Authority>(&authority);
  // A Narrow without a readable condition is refused elsewhere; its calls still are uses.
  if (held != nullptr) return held->permission;
  return std::nullopt;
}

CXType Identity::args_of(CXType method) {
  return args_of_permission(type_argument(clang_getCanonicalType(method), 0));
}

CXType Identity::args_of_permission(CXType permission) {
  CXCursor tag = clang_getCursorDefinition(declaration_of(permission));
  const CXType narrowed = base_named(
      tag, [](CXType base) { return qualified_name(declaration_of(base)) == "mcpac::Narrow"; });
  if (narrowed.kind != CXType_Invalid)
    tag = clang_getCursorDefinition(declaration_of(type_argument(narrowed, 0)));
  CXType args{CXType_Invalid, {nullptr, nullptr}};
  each_child(tag, [&args](CXCursor child) {
    if (clang_getCursorKind(child) == CXCursor_StructDecl && spelling(child) == "Args")
      args = clang_getCursorType(child);
  });
  return args;
}

std::optional<std::string> Identity::called_permission(CXCursor function) const {
  const CXCursorKind kind = clang_getCursorKind(function);
  if (kind != CXCursor_CXXMethod && kind != CXCursor_FunctionTemplate) return std::nullopt;
  const std::string name = spelling(function);
  if (name != "operator()" && name != "async" && name != "try_call") return std::nullopt;
  const CXType owner = clang_getCursorType(clang_getCursorSemanticParent(function));
  return is_method(owner) ? method_permission(owner) : std::nullopt;
}

bool Identity::is_capability(CXType type) const {
  const CXType bare = bare_type(type);
  if (is_requires(bare) || is_method(bare)) return true;
  const CXCursor declaration = declaration_of(bare);
  if (!exists(declaration) || !declared_in_headers(declaration)) return false;
  // What a Requires is made of: the runtime's inside, and the Member templates of servers and
  // tools.
  const std::string name = qualified_name(declaration);
  return name.starts_with("mcpac::detail::") || name == "mcpac::Declared" ||
         name == "mcpac::Session" || name == "mcpac::Future" ||
         (name.starts_with("mcp::") && name.ends_with("::Member"));
}

bool Identity::looks_like_runtime(CXType type) const {
  const CXCursor declaration = declaration_of(bare_type(type));
  if (!exists(declaration)) return false;
  const std::string name = spelling(declaration);
  const bool named_so = name == "Requires" || name == "Method" || name == "Narrow";
  return named_so && !declared_in_headers(declaration);
}

std::vector<std::string> Identity::permissions_named(std::string_view cpp_tool) const {
  std::vector<std::string> found;
  for (const auto& [cpp, permission] : request_.permissions) {
    if (cpp.size() > cpp_tool.size() && cpp.ends_with(cpp_tool) &&
        cpp[cpp.size() - cpp_tool.size() - 1] == ':') {
      found.push_back(permission);
    }
  }
  return found;
}

}  // namespace mcpac::analyzer
