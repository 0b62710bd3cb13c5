// SPDX-License-Identifier: Apache-2.0

// ProgramFile: facts that an ELF file states about itself, read before it runs.
//
// The interpreter of a dynamically linked program is chosen by its builder, so it is held
// against the one that we mount. Scripts and other formats are no programs here.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report.h"
#include "core/error.h"

namespace mcpac::toolchain {

// Declaration of its mcpac notes; nothing: it has none. See analyzer/binary_note.h.
using DeclaredInNotes = std::optional<std::vector<analyzer::Declared>>;

struct ProgramFile {
  std::string interpreter;  // PT_INTERP; empty for a static program
  DeclaredInNotes declared;
};

[[nodiscard]] Result<ProgramFile> inspect_program(const std::filesystem::path& file);

// Declaration of the mcpac notes in these bytes; `file` stands in errors.
[[nodiscard]] Result<DeclaredInNotes> declared_in(std::string_view bytes,
                                                  const std::filesystem::path& file);

// Whether the first bytes are those of an ELF file: then it is no source.
[[nodiscard]] bool is_elf_file(const std::filesystem::path& file);

// A binary's declaration, as a report (Entry::kBinary): what it uses cannot be seen in it.
// kProgramUnusable also where it says nothing: an empty list would be a wrong answer.
[[nodiscard]] Result<analyzer::Report> analyze_binary(const std::filesystem::path& file);

// The report of a binary whose declaration alone is known.
[[nodiscard]] analyzer::Report report_of_binary(const std::filesystem::path& file,
                                                std::vector<analyzer::Declared> declared);

}  // namespace mcpac::toolchain
