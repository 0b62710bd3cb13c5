// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/outside.h"

#include <fmt/format.h>

#include "analyzer/object_symbols.h"
#include "analyzer/os_calls.h"

namespace mcpac::analyzer {
namespace {

constexpr const char* kPrintFix =
    "print with std::print or std::fputs; call tools through Requires";

bool names_something(CXCursorKind kind) {
  return kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr ||
         kind == CXCursor_TypeRef || kind == CXCursor_TemplateRef || kind == CXCursor_MemberRef ||
         kind == CXCursor_CallExpr || kind == CXCursor_OverloadedDeclRef;
}

// Names that the standard keeps for the library's own inside.
bool is_internal_name(const std::string& name) {
  const bool reserved = name.starts_with("__") ||
                        (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z');
  return reserved && !name.starts_with("__builtin_");
}

// The name that the linker looks for, where it is one of C; "" for C++ and for what no other file
// sees.
std::string c_symbol(CXCursor declaration) {
  if (clang_getCursorLinkage(declaration) != CXLinkage_External) return {};
  const std::string symbol = take(clang_Cursor_getMangling(declaration));
  return is_mangled(symbol) ? "" : symbol;
}

}  // namespace

// What `execute` would refuse when it sees the object file (rule object-unknown).
void OutsideChecker::on_unknown(CXCursor reference, CXCursor named) {
  const std::string symbol = c_symbol(named);
  const std::string name = spelling(named);
  const bool builtin = name.starts_with("__builtin_") || name.starts_with("__atomic_") ||
                       name.starts_with("__sync_");
  if (symbol.empty() || builtin || purpose_of(symbol) != nullptr || purpose_of(name) != nullptr)
    return;
  findings_.add("unknown-function", reference,
                fmt::format("`{}` is a name of C that no program here is known to need", name),
                "use the C++ standard library or a tool");
}

void OutsideChecker::finish(const std::vector<Declared>& declared) {
  const bool granted = declares_files(declared);
  for (const auto& call : file_calls_) {
    const char* instead = granted ? instead_on_granted_files(call.name) : nullptr;
    if (instead != nullptr) {
      findings_.add(
          "os-call", call.reference,
          fmt::format("`{}` is refused in the sandbox, on granted files as well", call.name),
          instead);
    }
    if (granted) continue;
    findings_.add("os-call", call.reference,
                  fmt::format("`{}` reaches {}; in the sandbox this fails at run time", call.name,
                              kReachedFiles),
                  "use a tool for it, or declare mcpac::files and grant the files");
  }
}

void OutsideChecker::os_call(CXCursor reference, const std::string& name, const char* what) {
  if (what == std::string_view(kReachedFiles)) {
    file_calls_.push_back({reference, name});
    return;
  }
  findings_.add("os-call", reference,
                fmt::format("`{}` reaches {}; in the sandbox this fails at run time", name, what),
                "use a tool for it");
}

bool OutsideChecker::on_input(CXCursor reference, const std::string& name) {
  if (!reads_standard_input(name)) return false;
  findings_.add("os-call", reference,
                fmt::format("`{}` reads standard input, which is empty in a run", name),
                "mcpac::argument<std::string>(\"name\") reads what the run was given (mcpac "
                "execute --arguments)");
  return true;
}

void OutsideChecker::on_function(CXCursor reference, CXCursor function, Home home) {
  // A function of the program with such a name is its own, unless it is only declared.
  if (home != Home::kSystem && exists(clang_getCursorDefinition(function))) return;
  const std::string name = qualified_name(function);
  if (moves_raw_bytes(name)) {
    findings_.add("raw-descriptor", reference,
                  fmt::format("`{}` reaches the connection to the gate past every type", name),
                  kPrintFix);
  } else if (const char* what = reached_by_function(name)) {
    os_call(reference, name, what);
  } else if (on_input(reference, name)) {
    return;
  } else if (home == Home::kSystem) {
    on_unknown(reference, function);
  }
}

// What a macro of the library names is the library's affair; what a macro of the program names is
// not.
bool OutsideChecker::is_spelled_by_program(CXCursor reference) const {
  CXFile file = nullptr;
  clang_getSpellingLocation(clang_getCursorLocation(reference), &file, nullptr, nullptr, nullptr);
  const Home home = sources_.home(file);
  return home != Home::kSystem && home != Home::kHeaders;
}

void OutsideChecker::on_internal(CXCursor reference, CXCursor named) {
  const std::string name = spelling(named);
  if (!is_internal_name(name) || !is_spelled_by_program(reference)) return;
  // `auto` of a call or an implicit conversion names nothing in the text.
  if (spelling(reference) != name) return;
  findings_.add("library-internals", reference,
                fmt::format("`{}` is the inside of the library, where nothing is checked", name),
                "use what the standard documents");
}

void OutsideChecker::on_node(CXCursor node, CXCursor, const Scope&) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (!names_something(kind)) return;
  const CXCursor named = clang_getCursorReferenced(node);
  if (!exists(named)) return;
  const Home home = sources_.home(named);
  if (home == Home::kHeaders) return;
  const CXCursorKind what = clang_getCursorKind(named);
  const bool function = what == CXCursor_FunctionDecl || what == CXCursor_CXXMethod;
  // A call is named by the expression of its function, except where an operator or a constructor
  // is.
  if (function && kind != CXCursor_CallExpr) on_function(node, named, home);
  if (home != Home::kSystem || kind == CXCursor_CallExpr) return;
  if (kind == CXCursor_MemberRefExpr || kind == CXCursor_DeclRefExpr) on_internal(node, named);
  if (what == CXCursor_FieldDecl && spelling(clang_getCursorSemanticParent(named)) == "_IO_FILE") {
    findings_.add("raw-descriptor", node, "the inside of a FILE leads to any descriptor",
                  kPrintFix);
  }
  if (!function && clang_isDeclaration(what) != 0) {
    const std::string name = qualified_name(named);
    const bool variable = what == CXCursor_VarDecl;  // environ
    const char* reached = variable ? reached_by_function(name) : reached_by_type(name);
    if (reached != nullptr) os_call(node, name, reached);
    if (reached == nullptr && variable && !on_input(node, name)) on_unknown(node, named);
  }
}

}  // namespace mcpac::analyzer
