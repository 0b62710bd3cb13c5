#include "cli/source_argument.h"

#include "core/file.h"

namespace mcpac::cli {

Result<execute::Source> read_source(const std::string& file, const std::string& code) {
  if (file.empty() == code.empty()) {
    return fail(ErrorId::kUsage, "a program is needed, from one place",
                {.fix = "-f FILE, -c CODE, or - for standard input"});
  }
  if (!code.empty()) return execute::source_from_text(code, "<code>");
  if (file != "-") return execute::source_from_file(file);
  auto text = read_descriptor(0, "standard input", std::size_t{4} << 20U);
  if (!text) return pass_on(text);
  return execute::source_from_text(std::move(*text), "<stdin>");
}

}  // namespace mcpac::cli
