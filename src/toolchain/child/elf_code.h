// SPDX-License-Identifier: Apache-2.0

// ElfCode: a program's file as a place to look addresses up: which function an address lies in, and
// which call instruction a return address comes from.
//
// The file is the linker's over a hostile source, or a third party's altogether: every offset in it
// is checked, and what does not fit is as if it were not there; so is what lies beyond the bounds
// that real programs keep, so that no file takes more than a moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/elf.h"
#include "core/error.h"

namespace mcpac::toolchain {

struct CodeFunction {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string_view name;  // mangled; as long as the code that it is of
};

// The instruction before a return address.
struct CallInstruction {
  std::optional<std::uint64_t> target;  // nothing: through a register or memory
};

class ElfCode {
 public:
  // kProgramUnusable where it is no 64-bit ELF file. `entry` is where its entry lies in the
  // process; only a file that can lie anywhere needs it.
  static Result<ElfCode> read(const std::filesystem::path& file, std::uint64_t entry);
  // The same of a file's bytes, which outlive this; `name` stands in the error.
  static Result<ElfCode> of(std::string_view bytes, std::string_view name, std::uint64_t entry);
  static Result<ElfCode> of(std::string&& bytes, std::string_view name,
                            std::uint64_t entry) = delete;

  [[nodiscard]] const CodeFunction* function_at(std::uint64_t address) const;
  [[nodiscard]] std::optional<CallInstruction> call_before(std::uint64_t address) const;

 private:
  struct Segment {
    std::uint64_t begin = 0;
    std::string_view code;
  };
  ElfCode() = default;
  void read_segments(std::string_view bytes, const Elf64_Ehdr& header);
  void read_functions(const elf::ReadAt& read_at, const Elf64_Ehdr& header);

  std::shared_ptr<const std::string> bytes_;  // of a file that was read here
  std::shared_ptr<const std::string> names_;  // of its functions
  std::uint64_t bias_ = 0;
  std::vector<Segment> segments_;
  std::vector<CodeFunction> functions_;  // by begin
};

}  // namespace mcpac::toolchain
