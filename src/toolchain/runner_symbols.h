// SPDX-License-Identifier: Apache-2.0

// RunnerSymbols: at which address the runner has what an image needs (docs/adr/0024).
//
// Read once from the runner's symbol table, kept beside it as a list that is searched where it
// lies. Left out is what is not one thing at one address: thread-local variables, functions that
// are chosen at the start, and what the linker defines anew in every program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace mcpac::toolchain {

// A symbol of a linked program that has an address.
struct ElfSymbol {
  std::string name;
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

class RunnerSymbols {
 public:
  // Of `symbols` those that programs linked without a runner could have as well: `is_library` says
  // so of a name.
  static RunnerSymbols of(const std::vector<ElfSymbol>& symbols,
                          const std::function<bool(std::string_view)>& is_library);
  static Result<RunnerSymbols> from_bytes(std::string bytes);

  [[nodiscard]] const std::string& to_bytes() const { return bytes_; }
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view name) const;

 private:
  explicit RunnerSymbols(std::string bytes);
  struct Entry;
  [[nodiscard]] Entry entry(std::uint64_t index) const;
  [[nodiscard]] std::string_view name_of(const Entry& entry) const;
  std::string bytes_;  // the number of entries, the entries by name, the names
  std::uint64_t count_ = 0;
};

// Functions whose address is only known when the program has started (STT_GNU_IFUNC); the text of a
// source that makes the linker give them one.
[[nodiscard]] std::string source_of_chosen(const std::vector<ElfSymbol>& symbols);

// An object file that defines these names at these addresses and has nothing else.
[[nodiscard]] std::string object_of_addresses(
    const std::vector<std::pair<std::string_view, std::uint64_t>>& names);

}  // namespace mcpac::toolchain
