// SPDX-License-Identifier: Apache-2.0

// Image: an agent as the linker made it for the runner (docs/adr/0024): a file of segments at fixed
// addresses, which the runner maps into its own memory and enters.
//
// What made it was the linker in its sandbox, over objects of a hostile source: nothing in it is
// believed before it was checked, and every Image was checked. And nothing hangs on the check but a
// clear error: the image runs in a sandbox that holds whatever it is.
#pragma once

#include <elf.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace mcpac::toolchain {

// Address range of images: below the runner, behind which the kernel puts the heap, and low enough
// that code of one can call the other directly.
inline constexpr std::uint64_t kImageBegin = 0x10000000;
inline constexpr std::uint64_t kImageEnd = 0x30000000;
inline constexpr std::uint64_t kRunnerBegin = 0x40000000;
inline constexpr std::size_t kLargestImage = std::size_t{64} << 20U;
inline constexpr std::size_t kMostImageSegments = 16;

// A value whose copies share their bytes, which nothing else can change.
class Image {
 public:
  // What lies behind `begin`. kProgramUnusable where it is anything but segments inside the bounds,
  // on pages of their own, none to be written and executed, with an entry that names functions and
  // lists inside of them.
  [[nodiscard]] static Result<Image> checked(std::string bytes, std::size_t begin = 0);
  // The file itself, not what a link leads to; kInternal where this machine could not read it.
  [[nodiscard]] static Result<Image> read(const std::filesystem::path& file);

  // The file as the linker wrote it.
  [[nodiscard]] std::string_view bytes() const { return std::string_view(*bytes_).substr(begin_); }
  // Its beginning, with all that its segments have. The rest is names, which only a backtrace
  // needs.
  [[nodiscard]] std::string_view mapped() const { return bytes().substr(0, mapped_); }
  // Those that are loaded, in the order of their addresses, and its table of frames; at most
  // kMostImageSegments.
  [[nodiscard]] std::span<const Elf64_Phdr> segments() const { return segments_; }
  [[nodiscard]] std::uint64_t entry() const { return entry_; }

 private:
  Image() = default;
  std::shared_ptr<const std::string> bytes_;
  std::size_t begin_ = 0;
  std::size_t mapped_ = 0;
  std::vector<Elf64_Phdr> segments_;
  std::uint64_t entry_ = 0;
};

}  // namespace mcpac::toolchain
