// ElfSymbols: the symbol table of a linked program, as far as it names what has an address.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace mcpac::execute {

struct ElfSymbol {
  std::string_view name;  // in the bytes that were read
  std::uint64_t address = 0;
  std::uint8_t type = 0;  // STT_…
  // Not a name that one of its files had for itself alone: global, weak, or hidden (which linkers
  // write as local).
  bool shared = false;
};

// All that are defined; kProgramUnusable where `program` is no ELF file with a table that lies
// inside of it. `file` stands in the error.
[[nodiscard]] Result<std::vector<ElfSymbol>> symbols_of_program(std::string_view program,
                                                                std::string_view file);

}  // namespace mcpac::execute
