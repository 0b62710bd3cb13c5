#include "analyzer/clang/uses.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

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
  seen_.push_back({{permission, sources_.name(place.file), place.line, place.column, scope.function,
                    std::move(*arguments), open},
                   extent.from,
                   extent.to,
                   scope.in_template,
                   is_from_macro(node),
                   spelled_place(node)});
}

void UseChecker::on_call(CXCursor call, const Scope& scope) {
  const CXCursor function = clang_getCursorReferenced(call);
  if (!exists(function)) return;
  const auto permission = identity_.called_permission(function);
  if (!permission) return;
  for (const CXCursor part : callee_parts(call, function)) called_.push_back(part);
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
  const auto accounted =
      std::ranges::find_if(called_, [mention](CXCursor part) { return same(part, mention); });
  if (accounted != called_.end()) return;
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
  if (kind == CXCursor_CallExpr) return on_call(node, scope);
  if (is_mention(kind)) return on_mention(node, parent, scope);
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
