// ProgramFile: what the header of an ELF file says, before anything runs it.
//
// The interpreter of a dynamically linked program is chosen by whoever built it, so it is held
// against the one that we mount. Scripts and other formats are no programs here.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"

namespace mcpac::execute {

struct ProgramFile {
  std::string interpreter;  // PT_INTERP; empty for a static program
};

[[nodiscard]] Result<ProgramFile> inspect_program(const std::filesystem::path& file);

}  // namespace mcpac::execute
