// SPDX-License-Identifier: Apache-2.0

// EmbeddedFile: the files of templates/, carried inside the program.
//
// The build writes the definition (cmake/EmbedFiles.cmake), so an installed mcpac generates the
// same bytes wherever it lies, and no file on disk can be swapped under it.
#pragma once

#include <span>
#include <string_view>

namespace mcpac::codegen {

struct EmbeddedFile {
  std::string_view path;  // relative to templates/, e.g. "mcpac/requires.hpp"
  std::string_view text;
};

[[nodiscard]] std::span<const EmbeddedFile> embedded_files();
// The sources of the runner (docs/adr/0024), which no project gets a copy of.
[[nodiscard]] std::span<const EmbeddedFile> embedded_runner();

}  // namespace mcpac::codegen
