// SPDX-License-Identifier: Apache-2.0

// ObjectFile: sections and symbols of an object file that the compiler made of hostile source.
//
// Every offset, size and index is held against the file and against a limit; what does not fit is
// an error. Nothing of the file is run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/elf.h"
#include "core/error.h"

namespace mcpac::analyzer {

struct ObjectSection {
  std::string_view name;
  std::uint32_t type = 0;   // SHT_…
  std::uint64_t flags = 0;  // SHF_…
};

struct ObjectSymbol {
  std::string_view name;
  std::uint8_t type = 0;      // STT_…
  std::uint8_t binding = 0;   // STB_…
  std::uint32_t section = 0;  // index in `sections`; 0: the object needs it from elsewhere
};

struct ObjectFile {
  std::vector<ObjectSection> sections;
  std::vector<ObjectSymbol> symbols;
  std::vector<std::uint32_t> early;  // the symbols that .init_array and its like point at
  // Storage of the names; it stays in place when the object moves.
  std::unique_ptr<std::string> section_names;
  std::unique_ptr<std::string> symbol_names;
};

// kProgramUnusable where the file is no object file, is broken, or is larger than programs are.
[[nodiscard]] Result<ObjectFile> read_object(const elf::ReadAt& read_at, std::string_view file);

// Whether what this section points at runs before or after the entry, by the section's type.
[[nodiscard]] bool runs_early(const ObjectSection& section);

}  // namespace mcpac::analyzer
