// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/entry.h"

#include <fmt/format.h>

#include <algorithm>

namespace mcpac::analyzer {
namespace {

constexpr const char* kEntryFix =
    "int agent_main(mcpac::Requires<mcp::server::tool> rt) { … }\n"
    "or: extern mcpac::Requires<mcp::server::tool> runtime; int main() { … }";

bool is_global(CXCursor declaration) {
  CXCursor parent = clang_getCursorSemanticParent(declaration);
  // extern "C++" { … } is no scope.
  while (clang_getCursorKind(parent) == CXCursor_LinkageSpec)
    parent = clang_getCursorSemanticParent(parent);
  return clang_getCursorKind(parent) == CXCursor_TranslationUnit;
}

// Keeps one cursor per declared thing, the definition where the program has one.
void keep(std::vector<CXCursor>& list, CXCursor found) {
  const auto known = std::ranges::find_if(list, [found](CXCursor other) {
    return same(clang_getCanonicalCursor(other), clang_getCanonicalCursor(found));
  });
  if (known == list.end()) {
    list.push_back(found);
  } else if (clang_isCursorDefinition(found) != 0) {
    *known = found;
  }
}

// Where a declaration spells a permission; where an alias stands for it, the declaration begins.
Place spelled_in(CXCursor declaration, CXType permission) {
  CXCursor found = clang_getNullCursor();
  each_child(declaration, [&](CXCursor part) {
    const bool names =
        clang_getCursorKind(part) == CXCursor_TypeRef &&
        clang_equalTypes(clang_getCanonicalType(clang_getCursorType(part)), permission) != 0;
    if (names && !exists(found)) found = part;
  });
  if (exists(found)) return place_of(found);
  return place_of(clang_getRangeStart(clang_getCursorExtent(declaration)));
}

Place end_of(CXTranslationUnit unit, const Request& request) {
  Place place;
  place.file = clang_getFile(unit, request.source_path.c_str());
  place.line = 1;
  place.column = 1;
  return place;
}

}  // namespace

void EntryFinder::on_node(CXCursor node, CXCursor, const Scope& scope) {
  if (!scope.at_namespace) return;
  const CXCursorKind kind = clang_getCursorKind(node);
  const bool function = kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate;
  if (!function && kind != CXCursor_VarDecl) return;
  if (!is_global(node)) return;
  const std::string name = spelling(node);
  if (function && name == "agent_main") {
    // The instantiations of an agent_main template are not further entries.
    if (!exists(clang_getSpecializedCursorTemplate(node))) keep(agent_mains_, node);
  } else if (kind == CXCursor_VarDecl && name == "runtime") {
    keep(runtimes_, node);
  } else if (kind == CXCursor_FunctionDecl && name == "main") {
    keep(mains_, node);
  }
}

void EntryFinder::add_permissions(CXType type, CXCursor at, std::vector<Declared>& declared) {
  for (const CXType permission : Identity::permissions_of(type)) {
    const Place place = spelled_in(at, permission);
    const auto authority = identity_.authority_of(permission);
    if (const auto* none = std::get_if<NoAuthority>(&authority)) {
      findings_.add(none->rule, at, none->message, none->fix);
    } else {
      const auto& held = std::get<Authority>(authority);
      declared.push_back(
          {held.permission, held.where, sources_.name(place.file), place.line, place.column});
    }
  }
  const auto text = [](const Declared& item) { return item.text(); };
  std::ranges::sort(declared, {}, text);
  const auto repeated = std::ranges::unique(declared, {}, text);
  declared.erase(repeated.begin(), repeated.end());
}

void EntryFinder::check_parameter(CXType type, CXCursor parameter) {
  if (identity_.is_requires(without_reference(type))) {
    const CXType canonical = clang_getCanonicalType(type);
    const bool by_value = canonical.kind == CXType_Record || canonical.kind == CXType_Unexposed;
    const bool by_const_reference =
        canonical.kind == CXType_LValueReference &&
        clang_isConstQualifiedType(clang_getPointeeType(canonical)) != 0;
    if (!by_value && !by_const_reference) {
      findings_.add("entry-form", parameter, "agent_main takes its Requires by value or by const&",
                    "int agent_main(mcpac::Requires<…> rt)");
    }
    return;
  }
  const std::string name = take(clang_getTypeSpelling(type));
  if (identity_.looks_like_runtime(type)) {
    findings_.add("forged-type", parameter,
                  fmt::format("`{}` is not the mcpac::Requires of the generated headers", name),
                  "#include <mcpac.hpp> and take mcpac::Requires<…>");
  } else {
    findings_.add("entry-form", parameter,
                  fmt::format("agent_main receives a `{}`, not a mcpac::Requires", name),
                  kEntryFix);
  }
}

void EntryFinder::check_result(CXCursor function) {
  const CXType result = clang_getCanonicalType(clang_getCursorResultType(function));
  const bool json = qualified_name(clang_getTypeDeclaration(result)).starts_with("nlohmann::");
  if (result.kind == CXType_Int || result.kind == CXType_Void || json) return;
  findings_.add("entry-form", function, "agent_main returns int, void or mcpac::Json",
                "int agent_main(mcpac::Requires<…> rt)");
}

EntryFinder::Found EntryFinder::from_agent_main() {
  const CXCursor function = agent_mains_.front();
  Found found{Entry::kAgentMain, {}};
  if (clang_getCursorKind(function) == CXCursor_FunctionTemplate) {
    findings_.add("entry-form", function, "agent_main must not be a template",
                  "name the permissions: int agent_main(mcpac::Requires<…> rt)");
    return found;
  }
  if (clang_isCursorDefinition(function) == 0) {
    findings_.add("no-entry", function, "agent_main is declared, but not defined", kEntryFix);
    return found;
  }
  check_result(function);
  if (clang_Cursor_getNumArguments(function) != 1 || clang_Cursor_isVariadic(function) != 0) {
    findings_.add(
        "entry-form", function, "agent_main takes one parameter, a mcpac::Requires",
        clang_Cursor_getNumArguments(function) > 1
            ? "int agent_main(mcpac::Requires<…> rt): what varies from run to run is read "
              "with mcpac::argument<std::string>(\"name\")"
            : "a program without tools takes mcpac::Requires<>");
    return found;
  }
  const CXCursor parameter = clang_Cursor_getArgument(function, 0);
  const CXType type = clang_getCursorType(parameter);
  check_parameter(type, parameter);
  if (identity_.is_requires(without_reference(type)))
    add_permissions(without_reference(type), parameter, found.declared);
  return found;
}

EntryFinder::Found EntryFinder::from_runtime() {
  const CXCursor object = runtimes_.front();
  Found found{Entry::kRuntimeObject, {}};
  const CXType type = clang_getCanonicalType(clang_getCursorType(object));
  if (!identity_.is_requires(type)) {
    if (identity_.looks_like_runtime(type)) {
      findings_.add("forged-type", object,
                    "the type of `runtime` is not the mcpac::Requires of the generated headers",
                    "#include <mcpac.hpp>");
    } else if (mains_.empty()) {
      findings_.add("entry-form", object, "`runtime` is no mcpac::Requires", kEntryFix);
    } else {
      // An ordinary variable of that name in a program that uses no tools.
      found.entry = Entry::kNone;
    }
    return found;
  }
  if (clang_isCursorDefinition(object) != 0 ||
      clang_Cursor_getStorageClass(object) != CX_SC_Extern) {
    findings_.add("entry-form", object, "the host defines `runtime`; the program declares it",
                  "extern mcpac::Requires<…> runtime;");
  }
  add_permissions(type, object, found.declared);
  return found;
}

bool EntryFinder::check_one_entry(CXTranslationUnit unit) {
  if (agent_mains_.size() > 1) {
    findings_.add("two-entries", agent_mains_[1], "agent_main is overloaded", "keep one of them");
    return false;
  }
  if (!agent_mains_.empty() && !mains_.empty()) {
    findings_.add("two-entries", mains_.front(), "the program has both agent_main and main",
                  "keep one of them");
    return false;
  }
  const bool runtime = std::ranges::any_of(runtimes_, [this](CXCursor object) {
    return identity_.is_requires(clang_getCursorType(object));
  });
  if (!agent_mains_.empty() && runtime) {
    findings_.add("two-entries", runtimes_.front(),
                  "the program has both agent_main and a global runtime", "keep one of them");
    return false;
  }
  if (agent_mains_.empty() && mains_.empty()) {
    findings_.add("no-entry", end_of(unit, identity_.request()),
                  runtime ? "there is a `runtime`, but no main that uses it"
                          : "there is neither agent_main nor main in the global namespace",
                  kEntryFix);
    return false;
  }
  return true;
}

EntryFinder::Found EntryFinder::finish(CXTranslationUnit unit) {
  if (!check_one_entry(unit)) return {};
  if (!agent_mains_.empty()) return from_agent_main();
  if (clang_isCursorDefinition(mains_.front()) == 0) {
    findings_.add("no-entry", mains_.front(), "main is declared, but not defined", kEntryFix);
    return {};
  }
  Found found;
  if (!runtimes_.empty()) found = from_runtime();
  if (found.entry == Entry::kNone) {
    findings_.add("no-capability", mains_.front(),
                  "the program has no mcpac::Requires, so it can call no tool");
  }
  return found;
}

}  // namespace mcpac::analyzer
