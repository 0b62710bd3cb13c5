#include "analyzer/clang/argument_errors.h"

#include <algorithm>
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

}  // namespace

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
    if (name.starts_with("mcp::")) args_[name.substr(5)] = args;
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
  return of_call(tokens, static_cast<std::size_t>(open - tokens.begin()), noted);
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
    if (tokens[at].text == "(") return of_call(tokens, at, {});
  }
  return {};
}

std::vector<ArgumentError> ArgumentErrors::of_call(const std::vector<Token>& tokens,
                                                   std::size_t paren, const NamedArgs& noted) {
  const std::string spelled = tool_before(tokens, paren);
  const bool is_call = args_.contains(spelled);
  const std::string& tool = is_call ? spelled : noted.tool;
  const auto args = args_.find(tool);
  auto given = given_in(tokens, paren);
  if (args == args_.end() || !given) return {};
  const auto permission = identity_.request().permissions.find("mcp::" + tool);
  ArgumentFit fit(fields_,
                  permission == identity_.request().permissions.end() ? tool : permission->second);
  if (is_call || noted.inside.empty()) {
    fit.compare(args->second, *given);
  } else {
    fit.compare_inside(struct_in(args->second, noted.inside), noted.inside, *given);
  }
  auto errors = fit.errors();
  for (ArgumentError& error : errors) error.fix = "(" + to_text(*given) + ")";
  return errors;
}

}  // namespace mcpac::analyzer
