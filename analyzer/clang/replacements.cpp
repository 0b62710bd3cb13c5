// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/replacements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/clang/kinds.h"
#include "analyzer/object_symbols.h"
#include "analyzer/os_calls.h"
#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

// Templates that the library means to be specialised for types of a program.
constexpr std::array<std::string_view, 20> kOpen{"hash",
                                                 "formatter",
                                                 "tuple_size",
                                                 "tuple_element",
                                                 "common_type",
                                                 "basic_common_reference",
                                                 "iterator_traits",
                                                 "incrementable_traits",
                                                 "indirectly_readable_traits",
                                                 "pointer_traits",
                                                 "numeric_limits",
                                                 "is_error_code_enum",
                                                 "is_error_condition_enum",
                                                 "coroutine_traits",
                                                 "less",
                                                 "equal_to",
                                                 "enable_view",
                                                 "enable_borrowed_range",
                                                 "disable_sized_range",
                                                 "adl_serializer"};
// Those that change only how a type is shown or looked up, so that types of the runtime may have
// them, too.
constexpr std::array<std::string_view, 3> kOpenForAll{"hash", "formatter", "adl_serializer"};

// The namespace at namespace scope that holds the declaration, without looking through classes.
CXCursor namespace_of(CXCursor declaration) {
  CXCursor at = clang_getCursorSemanticParent(declaration);
  while (exists(at) && clang_getCursorKind(at) != CXCursor_Namespace &&
         clang_getCursorKind(at) != CXCursor_TranslationUnit) {
    at = clang_getCursorSemanticParent(at);
  }
  return at;
}

bool is_member(CXCursor declaration) {
  return is_class(clang_getCursorKind(clang_getCursorSemanticParent(declaration)));
}

// The symbol that the linker sees, where it is not one that C++ makes of the name.
std::string c_symbol(CXCursor declaration) {
  std::string symbol = take(clang_Cursor_getMangling(declaration));
  // extern "C" void _Z3logv() is linked as written, to a function of C++.
  return symbol.starts_with("_Z") && symbol != spelling(declaration) ? "" : symbol;
}

bool is_allocation(const std::string& name) {
  return name == "operator new" || name == "operator new[]" || name == "operator delete" ||
         name == "operator delete[]";
}

// Data of the C library that is no function's name.
constexpr std::string_view kData =
    " environ optarg optind opterr optopt timezone daylight tzname signgam sys_errlist sys_nerr "
    "program_invocation_name program_invocation_short_name h_errno getdate_err "
    "obstack_exit_failure "
    "error_print_progname error_message_count error_one_per_line argp_program_version "
    "argp_program_bug_address argp_err_exit_status loc1 loc2 locs svcerr_fdset ";

bool is_of_c_library(const std::string& symbol) {
  return has_word(kData, symbol) || purpose_of(symbol) != nullptr || moves_raw_bytes(symbol) ||
         reached_by_function(symbol) != nullptr;
}

// The parser has no kind of cursor for the specialisation of a variable template.
bool is_specialisation(CXCursor declaration) {
  return clang_getCursorKind(declaration) == CXCursor_UnexposedDecl ||
         exists(clang_getSpecializedCursorTemplate(declaration)) ||
         clang_getCursorKind(declaration) == CXCursor_ClassTemplatePartialSpecialization;
}

bool has_type_in_headers(CXType type, const Sources& sources, unsigned depth) {
  type = bare_type(type);
  const CXCursor declaration = clang_getTypeDeclaration(type);
  if (exists(declaration) && sources.home(declaration) == Home::kHeaders) return true;
  const int count = depth > 8 ? 0 : clang_Type_getNumTemplateArguments(type);
  for (int i = 0; i < count; ++i) {
    const CXType argument = type_argument(type, static_cast<unsigned>(i));
    if (argument.kind != CXType_Invalid && has_type_in_headers(argument, sources, depth + 1))
      return true;
  }
  return false;
}

}  // namespace

bool ReplacementChecker::has_runtime_type(CXCursor specialisation) const {
  bool found = false;
  each_child(specialisation, [&](CXCursor child) {
    if (clang_isReference(clang_getCursorKind(child)) == 0) return;
    const CXCursor named = clang_getCursorReferenced(child);
    const Home home = exists(named) ? sources_.home(named) : Home::kNone;
    // The name of a namespace says nothing: std::string_view is written with one, too.
    if (clang_getCursorKind(child) == CXCursor_NamespaceRef) return;
    found = found || home == Home::kHeaders ||
            has_type_in_headers(clang_getCursorType(child), sources_, 0);
  });
  return found || has_type_in_headers(clang_getCursorType(specialisation), sources_, 0);
}

// The program declares something in a namespace that others began.
void ReplacementChecker::on_foreign_scope(CXCursor declaration) {
  const CXCursor scope = namespace_of(declaration);
  if (clang_getCursorKind(scope) != CXCursor_Namespace) return;
  if (sources_.home(clang_getCanonicalCursor(scope)) != Home::kSystem) return;
  const std::string name = spelling(declaration);
  if (is_member(declaration)) {
    // A member of a specialisation is judged with it; one defined outside belongs to the library.
    const bool outside = !same(clang_getCursorLexicalParent(declaration),
                               clang_getCursorSemanticParent(declaration));
    const CXCursor owner = clang_getCursorSemanticParent(declaration);
    // What the library's own class does is judged; a class that the program specialised is its own.
    if (!outside || sources_.home(owner) == Home::kProgram) return;
  } else if (is_specialisation(declaration)) {
    const bool open = among(kOpen, name);
    if (open && (among(kOpenForAll, name) || !has_runtime_type(declaration))) return;
    findings_.add("library-specialisation", declaration,
                  fmt::format("`{}` of the library means something else after this",
                              qualified_name(declaration)),
                  "use a type or a function of your own");
    return;
  }
  findings_.add("reopened-namespace", declaration,
                fmt::format("`{}` belongs to the library", outermost_namespace(declaration)),
                "use a namespace of your own");
}

void ReplacementChecker::on_function(CXCursor function) {
  const std::string name = spelling(function);
  const bool defined = exists(clang_getCursorDefinition(function));
  const bool own = clang_getCursorLinkage(function) != CXLinkage_External;
  if (own || is_member(function)) return;
  const bool global = outermost_namespace(function).empty();
  if (global && name == "main") return;
  if (global && is_allocation(name)) {
    findings_.add("replaced-function", function,
                  fmt::format("`{}` would be the runtime's as well", name),
                  "give a class or a container an allocator of its own");
    return;
  }
  const std::string symbol = c_symbol(function);
  if (symbol.empty()) return;
  if (!defined) {
    const bool renamed = symbol != name;
    findings_.add(renamed ? "inline-assembly" : "redeclared-function", function,
                  renamed ? fmt::format("`{}` is linked as `{}`", name, symbol)
                          : fmt::format("`{}` is declared by hand", name),
                  "include the header that declares it");
  } else if (clang_isCursorDefinition(function) != 0) {
    findings_.add("replaced-function", function,
                  fmt::format("`{}` takes the place of any `{}` of the library", name, symbol),
                  "make it static, or a function of C++");
  }
}

// A global variable of C++ is linked by its bare name, so it can cover one of the C library.
void ReplacementChecker::on_variable(CXCursor variable) {
  if (clang_getCursorLinkage(variable) != CXLinkage_External || is_member(variable)) return;
  const std::string symbol = c_symbol(variable);
  if (symbol.empty()) return;
  if (symbol.starts_with('_')) {
    findings_.add("replaced-function", variable,
                  fmt::format("`{}` has a name of the C library's own", symbol),
                  "choose a name that does not begin with an underscore");
  } else if (is_of_c_library(symbol)) {
    findings_.add(
        "replaced-function", variable,
        fmt::format("`{}` takes the place of the `{}` of the library", spelling(variable), symbol),
        "make it static, or put it into a namespace of your own");
  }
}

void ReplacementChecker::on_node(CXCursor node, CXCursor, const Scope& scope) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (kind == CXCursor_FunctionDecl) on_function(node);
  if (kind == CXCursor_VarDecl && scope.function.empty()) on_variable(node);
  const bool nothing = clang_isDeclaration(kind) == 0 || kind == CXCursor_Namespace ||
                       kind == CXCursor_UsingDirective || kind == CXCursor_UsingDeclaration ||
                       kind == CXCursor_NamespaceAlias || kind == CXCursor_ParmDecl ||
                       kind == CXCursor_LinkageSpec || kind == CXCursor_FriendDecl;
  if (!nothing && scope.function.empty()) on_foreign_scope(node);
}

}  // namespace mcpac::analyzer
