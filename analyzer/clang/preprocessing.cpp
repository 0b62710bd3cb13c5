// SPDX-License-Identifier: Apache-2.0

#include "analyzer/clang/preprocessing.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "analyzer/clang/inclusions.h"

namespace mcpac::analyzer {
namespace {

// Macros of the system's headers that make pragmas of what they are given: JSON_HEDLEY_PRAGMA,
// _LIBCPP_PUSH_MACROS.
bool gives_pragma(std::string_view name) {
  return name.find("PRAGMA") != std::string_view::npos || name.starts_with("_LIBCPP_PUSH_MACROS") ||
         name.starts_with("_LIBCPP_POP_MACROS") || name.starts_with("_LIBCPP_DIAGNOSTIC_");
}

bool is_asm(const Token& token) {
  return token.text == "asm" || token.text == "__asm" || token.text == "__asm__";
}

}  // namespace

std::vector<CXFile> program_files(CXTranslationUnit unit, const Sources& sources,
                                  const Request& request) {
  std::vector<CXFile> files{clang_getFile(unit, request.source_path.c_str())};
  std::set<CXFile> seen(files.begin(), files.end());
  for (const Inclusion& inclusion : inclusions_of(unit)) {
    if (sources.home(inclusion.file) != Home::kProgram) continue;
    if (seen.insert(inclusion.file).second) files.push_back(inclusion.file);
  }
  return files;
}

void check_inclusions(CXTranslationUnit unit, const Sources& sources, Findings& findings) {
  for (const Inclusion& inclusion : inclusions_of(unit)) {
    const Place from = place_of(inclusion.from);
    if (sources.is_lead(from.file)) continue;
    // What is compiled has the entry behind it, so a second reading of it is another text.
    if (sources.is_main(inclusion.file)) {
      findings.add("self-include", from, "the program includes itself",
                   "move what is shared to a header");
    }
    if (sources.home(inclusion.file) != Home::kForeign && !sources.is_lead(inclusion.file))
      continue;
    findings.add(
        "foreign-header", from,
        fmt::format("`{}` is neither generated, nor the toolchain's, nor the program's own",
                    take(clang_getFileName(inclusion.file))),
        "copy what you need beside the program");
  }
}

void check_tokens(const std::vector<Token>& tokens, Findings& findings) {
  for (const Token& token : tokens) {
    if (is_asm(token)) {
      findings.add("inline-assembly", token.place, "assembly cannot be analysed",
                   "write it in C++");
    }
    const bool from_system = token.kind == CXToken_Identifier && gives_pragma(token.text);
    if (token.text == "_Pragma" || token.text == "__pragma" || from_system) {
      findings.add("pragma", token.place, "a pragma operator can hide in a macro",
                   "write #pragma on a line of its own");
    }
  }
}

}  // namespace mcpac::analyzer
