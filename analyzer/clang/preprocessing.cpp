#include "analyzer/clang/preprocessing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace mcpac::analyzer {
namespace {

struct Inclusion {
  CXFile file = nullptr;
  CXSourceLocation from{};
  bool is_main = false;
};

std::vector<Inclusion> inclusions(CXTranslationUnit unit) {
  std::vector<Inclusion> found;
  clang_getInclusions(
      unit,
      [](CXFile file, CXSourceLocation* stack, unsigned depth, CXClientData data) {
        auto* list = static_cast<std::vector<Inclusion>*>(data);
        list->push_back({file, depth > 0 ? stack[0] : clang_getNullLocation(), depth == 0});
      },
      &found);
  return found;
}

// Attributes that run code before the entry or swap functions behind the analysis.
constexpr std::array<std::string_view, 12> kAttributes{
    "constructor", "destructor",    "alias", "ifunc",     "section", "weak",
    "weakref",     "init_priority", "naked", "interrupt", "retain",  "patchable_function_entry"};

std::string_view bare_name(std::string_view name) {
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

bool is_asm(const Token& token) {
  return token.text == "asm" || token.text == "__asm" || token.text == "__asm__";
}

// The tokens of an attribute list that starts at `from`, [[…]] or __attribute__((…)); their number.
std::size_t attribute_length(const std::vector<Token>& tokens, std::size_t from) {
  const auto text = [&tokens](std::size_t i) {
    return i < tokens.size() ? std::string_view(tokens[i].text) : std::string_view();
  };
  const bool gnu = text(from) == "__attribute__" || text(from) == "__attribute";
  const bool standard = text(from) == "[" && text(from + 1) == "[";
  if (!gnu && !standard) return 0;
  std::size_t depth = 0;
  for (std::size_t at = gnu ? from + 1 : from; at < tokens.size(); ++at) {
    const std::string_view word = text(at);
    if (word == "(" || word == "[") ++depth;
    if ((word == ")" || word == "]") && --depth == 0) return at - from + 1;
    if (depth == 0) return 0;
  }
  return tokens.size() - from;
}

void check_attribute(std::span<const Token> tokens, Findings& findings) {
  for (const Token& token : tokens) {
    if (std::ranges::find(kAttributes, bare_name(token.text)) == kAttributes.end()) continue;
    findings.add("attribute", token.place,
                 fmt::format("the attribute `{}` is not for agents", token.text),
                 "do the work in the entry");
  }
}

}  // namespace

std::vector<CXFile> program_files(CXTranslationUnit unit, const Sources& sources,
                                  const Request& request) {
  std::vector<CXFile> files{clang_getFile(unit, request.source_path.c_str())};
  std::set<CXFile> seen(files.begin(), files.end());
  for (const Inclusion& inclusion : inclusions(unit)) {
    if (inclusion.is_main || sources.home(inclusion.file) != Home::kProgram) continue;
    if (seen.insert(inclusion.file).second) files.push_back(inclusion.file);
  }
  return files;
}

void check_inclusions(CXTranslationUnit unit, const Sources& sources, Findings& findings) {
  for (const Inclusion& inclusion : inclusions(unit)) {
    if (inclusion.is_main || sources.home(inclusion.file) != Home::kForeign) continue;
    findings.add(
        "foreign-header", place_of(inclusion.from),
        fmt::format("`{}` is neither generated, nor the toolchain's, nor the program's own",
                    take(clang_getFileName(inclusion.file))),
        "copy what you need beside the program");
  }
}

void check_tokens(const std::vector<Token>& tokens, Findings& findings) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (is_asm(token)) {
      findings.add("inline-assembly", token.place, "assembly cannot be analysed",
                   "write it in C++");
    }
    if (token.text == "_Pragma" || token.text == "__pragma") {
      findings.add("pragma", token.place, "a pragma operator can hide in a macro",
                   "write #pragma on a line of its own");
    }
    if (const std::size_t length = attribute_length(tokens, i); length > 0)
      check_attribute(std::span(tokens).subspan(i, length), findings);
  }
}

}  // namespace mcpac::analyzer
