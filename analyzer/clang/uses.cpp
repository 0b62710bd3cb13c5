// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/uses.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "analyzer/clang/kinds.h"
#include "analyzer/clang/reach.h"
#include "analyzer/word_list.h"
#include "core/json.h"

namespace mcpac::analyzer {
namespace {

// The object of rt.filesystem.tool(…) or rt.filesystem.tool.async(…), and the reference to the
// member function itself.
std::vector<CXCursor> callee_parts(CXCursor call, CXCursor function) {
  std::vector<CXCursor> parts;
  const auto operands = children(call);
  for (const CXCursor operand : operands) {
    const CXCursor stripped = strip(operand);
    if (!same(clang_getCursorReferenced(stripped), function)) continue;
    parts.push_back(stripped);
    const auto inner = children(stripped);
    if (!inner.empty()) parts.push_back(strip(inner.front()));
  }
  if (spelling(function) == "operator()" && !operands.empty())
    parts.push_back(strip(operands.front()));
  return parts;
}

// std::move and the like give the callable itself.
constexpr std::string_view kPassOn = " std::move std::forward std::as_const std::addressof ";

bool is_mention(CXCursorKind kind) {
  return kind == CXCursor_MemberRefExpr || kind == CXCursor_DeclRefExpr ||
         kind == CXCursor_MemberRef;
}

struct Extent {
  unsigned from = 0;
  unsigned to = 0;
};

Extent extent_of(CXCursor node) {
  const CXSourceRange range = clang_getCursorExtent(node);
  return {place_of(clang_getRangeStart(range)).offset, place_of(clang_getRangeEnd(range)).offset};
}

Place spelled_place(CXCursor node) {
  Place place;
  clang_getSpellingLocation(clang_getCursorLocation(node), &place.file, &place.line, &place.column,
                            &place.offset);
  return place;
}

// Whether members of a class that is made from a template have initialisers of their own: libclang
// shows those as they are written alone, so what they call is not seen.
bool has_unseen_initialisers(CXType type) {
  const CXCursor record = declaration_of(type);
  const CXCursor made_from =
      exists(record) ? clang_getSpecializedCursorTemplate(record) : clang_getNullCursor();
  if (!exists(made_from)) return false;
  bool found = false;
  const CXCursor defined = clang_getCursorDefinition(made_from);
  each_child(exists(defined) ? defined : made_from, [&found](CXCursor child) {
    found = found ||
            (clang_getCursorKind(child) == CXCursor_FieldDecl && !expressions_of(child).empty());
  });
  return found;
}

// The last identifier of a dependent member expression is the member's name.
std::string last_identifier(CXTranslationUnit unit, CXCursor node) {
  CXToken* tokens = nullptr;
  unsigned count = 0;
  clang_tokenize(unit, clang_getCursorExtent(node), &tokens, &count);
  std::string last;
  for (unsigned i = 0; i < count; ++i) {
    if (clang_getTokenKind(tokens[i]) == CXToken_Identifier)
      last = take(clang_getTokenSpelling(unit, tokens[i]));
  }
  clang_disposeTokens(unit, tokens, count);
  return last;
}

std::string key_of(const Use& use) {
  std::string arguments;
  for (const auto& [name, argument] : use.arguments) {
    arguments += fmt::format("{}={};", name,
                             argument.is_constant ? to_text(argument.value) : std::string("?"));
  }
  return fmt::format("{}\n{}\n{}:{}\n{}{}", use.permission, use.file, use.line, use.column,
                     arguments, use.open ? "*" : "");
}

}  // namespace

void UseChecker::record(const std::string& permission, CXCursor node,
                        std::optional<Folder::Arguments> arguments, CXType args,
                        const Scope& scope) {
  const bool open = !arguments;
  if (open) arguments = folder_.unknown_arguments(args);
  const Place place = place_of(node);
  const Extent extent = extent_of(node);
  seen_.push_back({.use = {permission, sources_.name(place.file), place.line, place.column,
                           scope.function, std::move(*arguments), open},
                   .from = extent.from,
                   .to = extent.to,
                   .as_written = scope.in_template,
                   .from_macro = is_from_macro(node),
                   .spelled = spelled_place(node)});
}

// What is named in the expression and called nowhere in it. Of a choice, each side.
void UseChecker::account(CXCursor expression) {
  const CXCursor at = strip(expression);
  const auto parts = expressions_of(at);
  const auto account_for = [&](std::size_t i) {
    if (i < parts.size()) account(parts[i]);
  };
  switch (clang_getCursorKind(at)) {
    case CXCursor_DeclRefExpr:
    case CXCursor_MemberRefExpr:
      // The argument of a template's parameter is inside of it.
      if (!exists(clang_getCursorReferenced(at))) return account_for(0);
      if (identity_.is_method(bare_type(clang_getCursorType(at)))) called_.push_back(at);
      return;
    case CXCursor_UnaryOperator:
    case CXCursor_ArraySubscriptExpr: return account_for(0);
    case CXCursor_BinaryOperator: {
      const CXBinaryOperatorKind what = clang_getCursorBinaryOperatorKind(at);
      if (what == CXBinaryOperator_PtrMemD || what == CXBinaryOperator_PtrMemI) account_for(1);
      return;
    }
    case CXCursor_ConditionalOperator: account_for(1); return account_for(2);
    case CXCursor_InitListExpr: return account_for_elements(at);
    case CXCursor_CallExpr: {
      const CXCursor function = clang_getCursorReferenced(at);
      if (!exists(function) || clang_Cursor_getNumArguments(at) != 1) return;
      const bool copies = (clang_CXXConstructor_isCopyConstructor(function) != 0 ||
                           clang_CXXConstructor_isMoveConstructor(function) != 0) &&
                          identity_.is_method(clang_getCursorType(at));
      const bool passes =
          sources_.home(function) == Home::kSystem && has_word(kPassOn, qualified_name(function));
      if (copies || passes) account(clang_Cursor_getArgument(at, 0));
      return;
    }
    default: return;
  }
}

// Only of what keeps nothing but callables: libclang shows the braces as they are written, without
// the conversion to a std::function that a field may be.
void UseChecker::account_for_elements(CXCursor list) {
  const CXType type = canonical(clang_getCursorType(list));
  struct Looked {
    const Identity& identity;
    bool all_callable = true;
  } looked{identity_};
  if (!identity_.is_method(bare_type(type))) {
    if (type.kind != CXType_Record || sources_.home(declaration_of(type)) != Home::kProgram ||
        has_bases(type) || has_unseen_initialisers(type))
      return;
    clang_Type_visitFields(
        type,
        [](CXCursor field, CXClientData data) {
          auto& at = *static_cast<Looked*>(data);
          at.all_callable =
              at.all_callable && at.identity.is_method(bare_type(clang_getCursorType(field)));
          return CXVisit_Continue;
        },
        &looked);
  }
  if (!looked.all_callable) return;
  for (const CXCursor element : expressions_of(list)) account(element);
}

// Calls of functions of the program, whose bodies are looked at with what they were given.
void UseChecker::account_for_arguments(CXCursor call, CXCursor function) {
  if (sources_.home(function) != Home::kProgram) return;
  if (clang_getCursorKind(function) == CXCursor_Constructor &&
      has_unseen_initialisers(clang_getCursorType(clang_getCursorSemanticParent(function))))
    return;
  const int parameters = clang_Cursor_getNumArguments(function);
  // For an operator libclang counts the object as the first argument.
  const int first = clang_Cursor_getNumArguments(call) - parameters;
  if (parameters < 1 || first < 0 || first > 1) return;
  for (int i = 0; i < parameters; ++i) {
    const CXCursor parameter = clang_Cursor_getArgument(function, static_cast<unsigned>(i));
    if (identity_.is_method(bare_type(clang_getCursorType(parameter))))
      account(clang_Cursor_getArgument(call, static_cast<unsigned>(first + i)));
  }
}

// Everything that gives a callable another name in the text of the program.
void UseChecker::account_for_parts(CXCursor node) {
  switch (clang_getCursorKind(node)) {
    case CXCursor_VarDecl:
    case CXCursor_FieldDecl: {
      if (!identity_.is_method(bare_type(clang_getCursorType(node)))) return;
      const CXCursor value = clang_getCursorKind(node) == CXCursor_VarDecl
                                 ? clang_Cursor_getVarDeclInitializer(node)
                                 : operand_of(node);
      if (exists(value)) account(value);
      return;
    }
    case CXCursor_LambdaExpr:
      for (const CXCursor captured : expressions_of(node)) account(captured);
      return;
    case CXCursor_Constructor: {
      CXCursor member = clang_getNullCursor();
      each_child(node, [&](CXCursor child) {
        const CXCursorKind kind = clang_getCursorKind(child);
        if (clang_isReference(kind) != 0) member = child;
        const bool names = exists(member) && clang_getCursorKind(member) == CXCursor_MemberRef;
        if (clang_isExpression(kind) == 0 || !names) return;
        if (!identity_.is_method(bare_type(clang_getCursorType(clang_getCursorReferenced(member)))))
          return;
        called_.push_back(member);
        account(child);
      });
      return;
    }
    case CXCursor_InitListExpr: return account_for_elements(node);
    case CXCursor_BinaryOperator:
      if (clang_getCursorBinaryOperatorKind(node) == CXBinaryOperator_Assign &&
          identity_.is_method(bare_type(clang_getCursorType(node)))) {
        for (const CXCursor side : expressions_of(node)) account(side);
      }
      return;
    // The arguments of a template: call<&Files::read_text_file>(…).
    case CXCursor_DeclRefExpr:
    case CXCursor_MemberRefExpr: {
      const CXCursor named = clang_getCursorReferenced(node);
      if (!exists(named) || !is_function(clang_getCursorKind(named)) ||
          sources_.home(named) != Home::kProgram)
        return;
      for (const CXCursor argument : expressions_of(node)) account(argument);
      return;
    }
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
      if (clang_getCanonicalType(clang_getCursorType(node)).kind == CXType_Void &&
          exists(operand_of(node)))
        account(operand_of(node));
      return;
    default: return;
  }
}

void UseChecker::on_call(CXCursor call, const Scope& scope) {
  const CXCursor function = clang_getCursorReferenced(call);
  if (!exists(function)) return;
  const auto permission = identity_.called_permission(function);
  if (!permission) return account_for_arguments(call, function);
  for (const CXCursor part : callee_parts(call, function)) {
    called_.push_back(part);
    account(part);
  }
  const CXType none{CXType_Invalid, {nullptr, nullptr}};
  if (clang_Cursor_getNumArguments(function) == 0)
    return record(*permission, call, Folder::Arguments(), none, scope);
  const CXType args = clang_getCursorType(clang_Cursor_getArgument(function, 0));
  // For an operator libclang counts the object as the first argument.
  const int count = clang_Cursor_getNumArguments(call);
  if (scope.in_template || count < 1) return record(*permission, call, {}, args, scope);
  const CXCursor given = clang_Cursor_getArgument(call, static_cast<unsigned>(count - 1));
  auto calls = folder_.arguments(given, args);
  if (!calls) return record(*permission, call, {}, args, scope);
  for (auto& arguments : *calls) record(*permission, call, std::move(arguments), args, scope);
}

void UseChecker::on_mention(CXCursor mention, CXCursor, const Scope& scope) {
  const bool accounted = std::ranges::any_of(
      called_, [mention](CXCursor part) { return same_expression(part, mention); });
  if (accounted) {
    const CXType type = bare_type(clang_getCursorType(mention));
    if (scope.in_template || !identity_.is_method(type)) return;
    const auto named = identity_.method_permission(type);
    if (!named) return;
    record(*named, mention, Folder::Arguments(), CXType{CXType_Invalid, {nullptr, nullptr}}, scope);
    seen_.back().only_named = true;
    return;
  }
  const CXCursor named = clang_getCursorReferenced(mention);
  if (!exists(named)) {
    if (clang_getCursorKind(mention) == CXCursor_MemberRefExpr) on_dependent_member(mention, scope);
    return;
  }
  if (const auto permission = identity_.called_permission(named)) {
    const CXType owner = clang_getCursorType(clang_getCursorSemanticParent(named));
    return record(*permission, mention, {}, Identity::args_of(owner), scope);
  }
  const CXType type = bare_type(clang_getCursorType(mention));
  if (!identity_.is_method(type)) return;
  const auto permission = identity_.method_permission(type);
  if (permission) record(*permission, mention, {}, Identity::args_of(type), scope);
}

void UseChecker::on_dependent_member(CXCursor member, const Scope& scope) {
  for (const std::string& permission :
       identity_.permissions_named(last_identifier(unit_, member))) {
    Scope as_written = scope;
    as_written.in_template = true;
    record(permission, member, {}, CXType{CXType_Invalid, {nullptr, nullptr}}, as_written);
  }
}

void UseChecker::on_node(CXCursor node, CXCursor parent, const Scope& scope) {
  if (scope.unevaluated) return;
  const CXCursorKind kind = clang_getCursorKind(node);
  if (kind == CXCursor_CXXForRangeStmt) return folder_.enter_loop(node);
  account_for_parts(node);
  if (kind == CXCursor_CallExpr) return on_call(node, scope);
  if (is_mention(kind)) return on_mention(node, parent, scope);
}

bool UseChecker::calls(std::string_view name, std::string_view permission) const {
  const std::string within = fmt::format("::{}::", name);
  return std::ranges::any_of(seen_, [&](const Seen& seen) {
    return seen.use.permission == permission &&
           fmt::format("::{}::", seen.use.function).contains(within);
  });
}

std::vector<Use> UseChecker::finish(const std::vector<Declared>& declared, Findings& findings) {
  const auto is_declared = [&declared](const std::string& permission) {
    return std::ranges::find(declared, permission, &Declared::permission) != declared.end();
  };
  // The same call seen in an instantiation says all that the template as written could say.
  const auto is_resolved = [this](const Seen& written) {
    return std::ranges::any_of(seen_, [&written](const Seen& other) {
      return !other.as_written && other.use.permission == written.use.permission &&
             other.use.file == written.use.file && other.from <= written.to &&
             written.from <= other.to &&
             (!written.from_macro || (other.spelled.file == written.spelled.file &&
                                      other.spelled.offset == written.spelled.offset));
    });
  };
  std::vector<Use> uses;
  std::set<std::string> known;
  for (const Seen& seen : seen_) {
    if (seen.only_named) continue;
    if (seen.as_written && (!is_declared(seen.use.permission) || is_resolved(seen))) continue;
    if (!known.insert(key_of(seen.use)).second) continue;
    if (seen.as_written) {
      Place place;
      place.line = seen.use.line;
      place.column = seen.use.column;
      findings.add_in(seen.use.file, "dependent-call", place,
                      fmt::format("no instantiation of this template was seen; it counts as a use "
                                  "of {} with unknown arguments",
                                  seen.use.permission));
    }
    uses.push_back(seen.use);
  }
  std::ranges::sort(uses, {}, [this](const Use& use) {
    return std::tuple(use.file != identity_.request().file, use.file, use.line, use.column,
                      key_of(use));
  });
  return uses;
}

}  // namespace mcpac::analyzer
