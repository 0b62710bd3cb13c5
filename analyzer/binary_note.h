// SPDX-License-Identifier: Apache-2.0

// BinaryNote: the declaration of a compiled program, read from the notes that the runtime headers
// leave in it (templates/mcpac/note.hpp).
//
// The file is hostile: nothing of it is run, every offset and length is held against the file and
// against a limit, and what does not fit is an error that names the place. The note is a claim of
// the program's builder, so it may only ever narrow what the program gets.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/report.h"
#include "core/elf.h"
#include "core/error.h"

namespace mcpac::analyzer {

// All notes of the file together: sorted, each once, `file` as their place. Nothing: the file is an
// ELF program without such a note, and what it declares is unknown. kProgramUnusable: it is no
// 64-bit x86 ELF file that was linked, or its notes are broken or of a newer form.
[[nodiscard]] Result<std::optional<std::vector<Declared>>> declared_in_binary(
    const elf::ReadAt& read_at, std::string_view file);

}  // namespace mcpac::analyzer
