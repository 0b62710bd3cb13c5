// SPDX-License-Identifier: Apache-2.0

// LibrarySymbols: every name that the runtime's object and the libraries beside it define.
//
// Read once per toolchain from what the link command names (all of it ours or the system's) and
// kept beside the precompiled runtime as a sorted list of hashes: 20,000 names are 160 KB that way,
// and asking for a name costs nothing. Two names with one hash could only refuse a program, never
// admit one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace mcpac::toolchain {

class LibrarySymbols {
 public:
  // What `link` (Toolchain::link) puts into a program beside the program's own object;
  // `runtime_object` is where runtime.o is on the host.
  static Result<LibrarySymbols> of_link(const std::vector<std::string>& link,
                                        const std::filesystem::path& runtime_object);
  static Result<LibrarySymbols> from_bytes(std::string_view bytes);

  [[nodiscard]] std::string to_bytes() const;
  [[nodiscard]] bool contains(std::string_view symbol) const;

 private:
  explicit LibrarySymbols(std::vector<std::uint64_t> hashes);
  std::vector<std::uint64_t> hashes_;  // sorted, each once
};

}  // namespace mcpac::toolchain
