// SPDX-License-Identifier: Apache-2.0

// Sources of a program on the command line: files and folders, `-` for standard input, or text.
#pragma once

#include <string>
#include <vector>

#include "analyzer/source_texts.h"
#include "core/error.h"
#include "toolchain/snapshot.h"

namespace mcpac::cli {

// Sources named by options and plain arguments, as one program.
struct SourceNames {
  std::vector<std::string> options{};
  std::vector<std::string> arguments{};
  [[nodiscard]] std::vector<std::string> all() const;
};

// One of `files` may be "-", if it is the only one. With `code` not empty that text is the program
// and `files` must be empty.
[[nodiscard]] Result<toolchain::Source> read_source(const std::vector<std::string>& files,
                                                    const std::string& code);

// Its sources, for showing lines of them; local headers are not among them.
[[nodiscard]] analyzer::SourceTexts texts_of(const toolchain::Source& source);

}  // namespace mcpac::cli
