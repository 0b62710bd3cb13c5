// SPDX-License-Identifier: Apache-2.0

#include "analyzer/use_text.h"

#include <fmt/format.h>

#include "core/printable.h"

namespace mcpac::analyzer {

std::string use_text(const Use& use) {
  std::string arguments;
  for (const auto& [name, argument] : use.arguments) {
    const std::string value = argument.is_constant ? to_text(argument.value) : "(run time)";
    arguments += fmt::format("{}{} = {}", arguments.empty() ? "" : ", ", name, value);
  }
  if (use.open) arguments += arguments.empty() ? "…" : ", …";
  const std::string place =
      use.line == 0 ? use.file : fmt::format("{}:{}:{}", use.file, use.line, use.column);
  const std::string in = use.function.empty() ? "" : fmt::format(" in {}", use.function);
  return printable_in_place(fmt::format("{}({})  {}{}", use.permission, arguments, place, in));
}

}  // namespace mcpac::analyzer
