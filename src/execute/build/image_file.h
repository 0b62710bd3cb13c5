// ImageFile: an agent as the linker made it for the runner (docs/adr/0024): a file of segments at
// fixed addresses, which the runner maps into its own memory and enters.
//
// What made it was the linker in its sandbox, over objects of a hostile source: nothing in it is
// believed before check_image(). And nothing hangs on the check but a clear error: the image runs
// in a sandbox that holds whatever it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "core/error.h"
#include "core/file.h"

namespace mcpac::execute {

// Where images lie: below the runner, behind which the kernel puts the heap, and low enough that
// code of one can call the other directly.
inline constexpr std::uint64_t kImageBegin = 0x10000000;
inline constexpr std::uint64_t kImageEnd = 0x30000000;
inline constexpr std::uint64_t kRunnerBegin = 0x40000000;
inline constexpr std::size_t kLargestImage = std::size_t{64} << 20U;

// kProgramUnusable where it is anything but segments inside the bounds, on pages of their own, none
// to be written and executed, with an entry that names functions and lists inside of them.
[[nodiscard]] Result<void> check_image(std::string_view bytes);

// The bytes, checked, where nobody can change them any more: a sealed descriptor.
[[nodiscard]] Result<UniqueFd> sealed_image(const std::filesystem::path& file);
[[nodiscard]] Result<UniqueFd> sealed_image_of(std::string_view bytes);

}  // namespace mcpac::execute
