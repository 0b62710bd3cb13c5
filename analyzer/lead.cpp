// SPDX-License-Identifier: Apache-2.0

#include "analyzer/lead.h"

#include <fmt/format.h>

#include <algorithm>

namespace mcpac::analyzer::lead {

Result<std::string> naming(std::string_view source_path) {
  // A backslash before the closing quote would hide it.
  if (source_path.find_first_of("\"\\\r\n") == std::string_view::npos)
    return fmt::format("#include \"{}\"\n", source_path);
  return fail(ErrorId::kSourceUnreadable,
              "the name of the source has a quote, a backslash or a line break",
              {.fix = "give the file another name"});
}

bool is_part(std::string_view path) {
  return path == kMain || path == kBefore || path == kSource;
}

}  // namespace mcpac::analyzer::lead
