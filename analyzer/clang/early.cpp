// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/early.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analyzer/clang/kinds.h"
#include "analyzer/clang/tokens.h"
#include "analyzer/word_list.h"

namespace mcpac::analyzer {
namespace {

// Below this the walker itself has refused the program.
constexpr unsigned kDeepestInitialiser = 2000;

// A variable that is made before the entry runs: of a namespace, or a static member.
bool is_global(CXCursor variable, const Scope& scope) {
  return clang_getCursorKind(variable) == CXCursor_VarDecl && scope.function.empty();
}

// constexpr and constinit variables have their values before anything runs. Also of constructors.
bool is_constant(CXCursor variable) {
  // An attribute may be called so and means nothing.
  int depth = 0;
  for (const std::string& word : words_of(variable)) {
    if (depth == 0 && (word == "constexpr" || word == "constinit")) return true;
    if (depth == 0 && (word == "=" || word == "{" || word == "(" || word == "<%")) return false;
    depth += opens(word) ? 1 : closes(word) ? -1 : 0;
  }
  return false;
}

// Functions of the library that keep what they are given and do not call it.
constexpr std::string_view kKeepers =
    " make_pair make_tuple make_optional bind bind_front bind_back move forward forward_as_tuple "
    "tie ref cref not_fn to_array mem_fn ";

// Whether the library calls what it is given: constructors of threads do, those of containers and
// of std::function do not.
bool calls_what_it_gets(CXCursor function) {
  const std::string name = spelling(function);
  if (clang_getCursorKind(function) == CXCursor_Constructor)
    return name == "thread" || name == "jthread";
  return !has_word(kKeepers, name) && !name.starts_with("operator");
}

// A function of the program that is named as a value.
bool names_function(CXCursor argument, const Sources& sources) {
  CXCursor at = strip(argument);
  const auto inner = expressions_of(at);
  const bool address = clang_getCursorKind(at) == CXCursor_UnaryOperator && inner.size() == 1;
  const CXCursor named = clang_getCursorReferenced(address ? strip(inner.front()) : at);
  return exists(named) && is_function(clang_getCursorKind(named)) &&
         sources.home(named) == Home::kProgram;
}

}  // namespace

void EarlyChecker::note(CXCursor global, CXCursor at) {
  findings_.add("early-code", at,
                fmt::format("the program runs code before its entry, for `{}`", spelling(global)),
                "");
}

void EarlyChecker::on_call(CXCursor global, CXCursor call) {
  const CXCursor function = clang_getCursorReferenced(call);
  if (!exists(function)) return;
  if (identity_.called_permission(function)) {
    findings_.add("early-call", call,
                  fmt::format("`{}` calls a tool before the entry has begun", spelling(global)),
                  "call it in the entry: here an error ends the program without a word");
    return;
  }
  if (sources_.home(function) == Home::kProgram) return note(global, call);
  if (sources_.home(function) != Home::kSystem) return;
  // Elements and values of the program's classes are made by the library's constructors.
  const int count = clang_Cursor_getNumArguments(call);
  if (clang_getCursorKind(function) == CXCursor_Constructor && count > 0)
    on_made(global, call, clang_getCursorType(call), Made::kByLibrary);
  if (!calls_what_it_gets(function)) return;
  for (int i = 0; i < count; ++i) {
    const CXCursor argument = clang_Cursor_getArgument(call, static_cast<unsigned>(i));
    if (names_function(argument, sources_)) note(global, argument);
  }
}

// What runs when an object of the type is made without a call that the text shows: initialisers of
// members, constructors of elements.
void EarlyChecker::on_made(CXCursor global, CXCursor at, CXType type, Made made) {
  if (is_pointer_like(type)) return;
  type = bare_type(type);
  for (int i = 0; i < clang_Type_getNumTemplateArguments(type); ++i)
    on_made(global, at, type_argument(type, static_cast<unsigned>(i)), made);
  const CXCursor record = clang_getCursorDefinition(declaration_of(type));
  const auto is_it = [record](CXCursor known) { return same(known, record); };
  if (!exists(record) || sources_.home(record) != Home::kProgram ||
      std::ranges::any_of(made_, is_it))
    return;
  made_.push_back(record);
  each_child(record, [&](CXCursor member) {
    const CXCursorKind kind = clang_getCursorKind(member);
    // A constexpr constructor gives what stands in place its value before anything runs.
    const bool runs = kind == CXCursor_Constructor && clang_CXXMethod_isDefaulted(member) == 0 &&
                      clang_CXXMethod_isDeleted(member) == 0 &&
                      !(made == Made::kInPlace && is_constant(member));
    if (runs) note(global, at);
    if (kind == CXCursor_CXXBaseSpecifier) on_made(global, at, clang_getCursorType(member), made);
    if (kind != CXCursor_FieldDecl) return;
    on_made(global, at, clang_getCursorType(member), made);
    for (const CXCursor initialiser : expressions_of(member)) search(global, initialiser, 0, false);
  });
}

void EarlyChecker::search(CXCursor global, CXCursor node, unsigned depth, bool runs_lambdas) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (depth > kDeepestInitialiser) return;
  if (kind == CXCursor_LambdaExpr) {
    // The body of a lambda runs when it is called.
    if (!runs_lambdas) return;
    note(global, node);
  }
  if (kind == CXCursor_CallExpr) {
    on_call(global, node);
    const CXCursor function = clang_getCursorReferenced(node);
    // Also of the lambda itself: `[] { … }()`.
    runs_lambdas = !exists(function) || sources_.home(function) == Home::kProgram ||
                   calls_what_it_gets(function);
  }
  if (kind == CXCursor_InitListExpr)
    on_made(global, node, clang_getCursorType(node), Made::kInPlace);
  each_child(node, [&](CXCursor child) { search(global, child, depth + 1, runs_lambdas); });
}

void EarlyChecker::on_node(CXCursor node, CXCursor, const Scope& scope) {
  if (!is_global(node, scope) || scope.in_template || is_constant(node)) return;
  made_.clear();
  each_child(node, [&](CXCursor child) { search(node, child, 0, false); });
}

}  // namespace mcpac::analyzer
