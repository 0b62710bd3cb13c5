// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/argument_errors.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "analyzer/clang/given_arguments.h"

namespace mcpac::analyzer {
namespace {

// "filesystem::read_text_file" of `rt.filesystem.read_text_file.async(`, whose ( is at `paren`.
std::string tool_before(const std::vector<Token>& tokens, std::size_t paren) {
  std::vector<std::string> names;
  for (std::size_t at = paren; at >= 2 && names.size() < 3; at -= 2) {
    if (tokens[at - 1].kind != CXToken_Identifier) break;
    names.push_back(tokens[at - 1].text);
    if (tokens[at - 2].text != "." && tokens[at - 2].text != "->") break;
  }
  if (!names.empty() && (names[0] == "async" || names[0] == "try_call")) names.erase(names.begin());
  return names.size() < 2 ? "" : names[1] + "::" + names[0];
}

// The struct that is called so, "Edits" or "Edits::Where", in these.
CXCursor struct_in(CXType args, std::string_view name) {
  CXCursor record = clang_getCursorDefinition(clang_getTypeDeclaration(args));
  while (!name.empty() && clang_Cursor_isNull(record) == 0) {
    const auto end = std::min(name.find("::"), name.size());
    CXCursor found = clang_getNullCursor();
    each_child(record, [&](CXCursor child) {
      const bool is_struct = clang_getCursorKind(child) == CXCursor_StructDecl;
      if (is_struct && take(clang_getCursorSpelling(child)) == name.substr(0, end)) found = child;
    });
    record = clang_Cursor_isNull(found) != 0 ? found : clang_getCursorDefinition(found);
    name.remove_prefix(std::min(end + 2, name.size()));
  }
  return record;
}

// The parts of "mcp::memory::read_graph::Result".
std::vector<std::string> parts_of(std::string_view cpp) {
  std::vector<std::string> parts;
  while (!cpp.empty()) {
    const auto end = std::min(cpp.find("::"), cpp.size());
    parts.emplace_back(cpp.substr(0, end));
    cpp.remove_prefix(std::min(end + 2, cpp.size()));
  }
  return parts;
}

// Visits the expressions of the program that stand between two offsets of a file, outer ones first,
// until one is what is looked for.
struct Search {
  CXFile file;
  unsigned from;
  unsigned to;
  const std::function<bool(CXCursor)>& is;
  bool found = false;
};

CXChildVisitResult search(CXCursor cursor, CXCursor, CXClientData data) {
  auto& at = *static_cast<Search*>(data);
  const CXSourceRange range = clang_getCursorExtent(cursor);
  const Place from = place_of(clang_getRangeStart(range));
  const Place to = place_of(clang_getRangeEnd(range));
  const bool apart =
      clang_File_isEqual(from.file, at.file) == 0 || from.offset > at.to || to.offset < at.from;
  // The text of what a macro made, or of an instantiation, is told by what stands in it.
  if (apart && clang_isDeclaration(clang_getCursorKind(cursor)) != 0) return CXChildVisit_Continue;
  const bool within = !apart && from.offset >= at.from && to.offset <= at.to;
  if (within && clang_isExpression(clang_getCursorKind(cursor)) != 0 && at.is(cursor)) {
    at.found = true;
    return CXChildVisit_Break;
  }
  return CXChildVisit_Recurse;
}

void find_expression(CXTranslationUnit unit, CXFile file, unsigned from, unsigned to,
                     const std::function<bool(CXCursor)>& is) {
  Search looked{file, from, to, is};
  clang_visitChildren(clang_getTranslationUnitCursor(unit), search, &looked);
}

// The type of an expression that a call which does not compile was given.
CXType type_of_given(CXTranslationUnit unit, const Given& given) {
  CXType type{CXType_Invalid, {nullptr, nullptr}};
  if (given.expression.empty()) return type;
  const Place& from = given.expression.front().place;
  const Token& last = given.expression.back();
  const auto to = last.place.offset + static_cast<unsigned>(last.text.size());
  find_expression(unit, from.file, from.offset, to, [&](CXCursor at) {
    const CXSourceRange range = clang_getCursorExtent(at);
    const bool whole = place_of(clang_getRangeStart(range)).offset == from.offset &&
                       place_of(clang_getRangeEnd(range)).offset == to;
    const CXType here = clang_getCursorType(at);
    const CXTypeKind kind = clang_getCanonicalType(here).kind;
    if (!whole || kind == CXType_Invalid || kind == CXType_Void || kind == CXType_Dependent ||
        kind == CXType_Unexposed || kind == CXType_Overload)
      return false;
    type = here;
    return true;
  });
  return type;
}

}  // namespace

std::vector<std::string> ArgumentErrors::names_in(std::string_view cpp) const {
  const auto parts = parts_of(cpp);
  std::vector<std::string> names;
  if (parts.size() < 4 || parts[0] != "mcp") return names;
  const auto tag = tags_.find(parts[1] + "::" + parts[2]);
  if (tag == tags_.end()) return names;
  CXCursor at = clang_getCursorDefinition(tag->second);
  for (std::size_t i = 3; i < parts.size() && exists(at); ++i) {
    CXCursor found = clang_getNullCursor();
    each_child(at, [&](CXCursor child) {
      const CXCursorKind kind = clang_getCursorKind(child);
      if ((kind == CXCursor_StructDecl || kind == CXCursor_EnumDecl) && spelling(child) == parts[i])
        found = clang_getCursorDefinition(child);
    });
    at = found;
  }
  if (!exists(at)) return names;
  each_child(at, [&](CXCursor child) {
    const CXCursorKind kind = clang_getCursorKind(child);
    const bool named = kind == CXCursor_FieldDecl || kind == CXCursor_StructDecl ||
                       kind == CXCursor_EnumDecl || kind == CXCursor_EnumConstantDecl;
    const std::string name = spelling(child);
    if (named && !name.empty() && !name.starts_with("mcpac_")) names.push_back(name);
  });
  return names;
}

std::string ArgumentErrors::result_in_braces(CXTranslationUnit unit, const Place& place) {
  std::string tool;
  // As far as one statement goes that people write.
  constexpr unsigned kLongestStatement = 4096;
  find_expression(
      unit, place.file, place.offset, place.offset + kLongestStatement, [&tool](CXCursor at) {
        if (clang_getCursorKind(at) != CXCursor_InitListExpr) return false;
        for (const CXCursor element : expressions_of(at)) {
          const std::string name =
              qualified_name(declaration_of(bare_type(clang_getCursorType(strip(element)))));
          if (!name.starts_with("mcp::") || !name.ends_with("::Result")) continue;
          tool = name.substr(0, name.size() - std::string_view("::Result").size());
          return true;
        }
        return false;
      });
  return tool;
}

void ArgumentErrors::on_node(CXCursor node, CXCursor, const Scope&) {
  const CXCursorKind kind = clang_getCursorKind(node);
  if (kind != CXCursor_ParmDecl && kind != CXCursor_VarDecl && kind != CXCursor_FieldDecl) return;
  const CXType type = bare_type(clang_getCursorType(node));
  if (!identity_.is_requires(type)) return;
  for (const CXType permission : Identity::permissions_of(type)) {
    const CXType args = Identity::args_of_permission(permission);
    if (args.kind == CXType_Invalid) continue;
    std::string name =
        qualified_name(clang_getCursorSemanticParent(clang_getTypeDeclaration(args)));
    if (!name.starts_with("mcp::")) continue;
    args_[name.substr(5)] = args;
    tags_[name.substr(5)] = clang_getCursorSemanticParent(clang_getTypeDeclaration(args));
  }
}

const std::vector<Token>& ArgumentErrors::tokens_in(CXTranslationUnit unit, CXFile file) {
  const auto [known, is_new] = tokens_.try_emplace(file);
  if (is_new) known->second = tokens_of(unit, file);
  return known->second;
}

std::vector<ArgumentError> ArgumentErrors::at(CXTranslationUnit unit, const Place& place,
                                              const NamedArgs& noted) {
  if (place.file == nullptr) return {};
  const auto& tokens = tokens_in(unit, place.file);
  const auto first = std::ranges::find_if(
      tokens, [&place](const Token& token) { return token.place.offset >= place.offset; });
  const auto open =
      std::find_if(first, tokens.end(), [](const Token& token) { return token.text == "("; });
  if (open == tokens.end()) return {};
  return of_call(unit, tokens, static_cast<std::size_t>(open - tokens.begin()), noted);
}

std::vector<ArgumentError> ArgumentErrors::around(CXTranslationUnit unit, const Place& place) {
  if (place.file == nullptr) return {};
  const auto& tokens = tokens_in(unit, place.file);
  const auto here = std::ranges::find_if(
      tokens, [&place](const Token& token) { return token.place.offset >= place.offset; });
  int depth = 0;
  for (auto at = static_cast<std::size_t>(here - tokens.begin()); at-- > 0;) {
    if (closes(tokens[at].text)) ++depth;
    if (!opens(tokens[at].text)) continue;
    if (depth-- > 0) continue;
    depth = 0;
    if (tokens[at].text == "(") return of_call(unit, tokens, at, {});
  }
  return {};
}

std::vector<ArgumentError> ArgumentErrors::of_call(CXTranslationUnit unit,
                                                   const std::vector<Token>& tokens,
                                                   std::size_t paren, const NamedArgs& noted) {
  const std::string spelled = tool_before(tokens, paren);
  const bool is_call = args_.contains(spelled);
  const std::string& tool = is_call ? spelled : noted.tool;
  const auto args = args_.find(tool);
  auto given = given_in(tokens, paren);
  if (args == args_.end() || !given) return {};
  const auto permission = identity_.request().permissions.find("mcp::" + tool);
  ArgumentFit fit(fields_,
                  permission == identity_.request().permissions.end() ? tool : permission->second,
                  [unit](const Given& one) { return type_of_given(unit, one); });
  if (is_call || noted.inside.empty()) {
    fit.compare(args->second, *given);
  } else {
    fit.compare_inside(struct_in(args->second, noted.inside), noted.inside, *given);
  }
  auto errors = fit.errors();
  for (ArgumentError& error : errors) {
    if (error.fix.empty()) error.fix = "(" + to_text(*given) + ")";
  }
  return errors;
}

}  // namespace mcpac::analyzer
