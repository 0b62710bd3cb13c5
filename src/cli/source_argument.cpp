// SPDX-License-Identifier: Apache-2.0

#include "cli/source_argument.h"

#include <algorithm>

#include "core/file.h"
#include "toolchain/source_files.h"

namespace mcpac::cli {

std::vector<std::string> SourceNames::all() const {
  std::vector<std::string> names = options;
  names.insert(names.end(), arguments.begin(), arguments.end());
  return names;
}

Result<toolchain::Source> read_source(const std::vector<std::string>& files,
                                      const std::string& code) {
  const bool has_input = std::ranges::find(files, "-") != files.end();
  if (files.empty() == code.empty() || (has_input && files.size() > 1)) {
    return fail(ErrorId::kUsage, "a program is needed, from one place",
                {.fix = "-f FILE (more than once, or a folder), -c CODE, or - for standard input"});
  }
  if (!code.empty()) return toolchain::source_from_text(code, "<code>");
  if (!has_input) return toolchain::source_from_files({files.begin(), files.end()});
  auto text = read_descriptor(0, "standard input", std::size_t{4} << 20U);
  if (!text) return pass_on(text);
  return toolchain::source_from_text(std::move(*text), "<stdin>");
}

analyzer::SourceTexts texts_of(const toolchain::Source& source) {
  std::map<std::string, std::string> texts{{source.display, source.text}};
  for (const auto& file : source.further) texts.emplace(file.display, file.text);
  return analyzer::SourceTexts(std::move(texts));
}

}  // namespace mcpac::cli
