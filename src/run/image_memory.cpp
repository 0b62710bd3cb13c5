// SPDX-License-Identifier: Apache-2.0

#include "run/image_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/write_all.h"

namespace mcpac::run {
namespace {

// More than the segments of most programs that use regular expressions, JSON and threads.
constexpr off_t kUsualImage = off_t{256} << 10U;

std::unexpected<Error> failed(const char* what, int error) {
  return fail(ErrorId::kInternal, fmt::format("{}: {}", what, std::strerror(error)));
}

}  // namespace

Result<ImageMemory> ImageMemory::make() {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  constexpr unsigned kExecutable = 0x10;  // MFD_EXEC: since Linux 6.3, asked for by some settings
  UniqueFd memory(::memfd_create("mcpac-image", kFlags | kExecutable));
  // Older kernels do not know it, and where vm.memfd_noexec is 2 it is forbidden. There is no exec
  // of an image: the runner maps it, which needs neither.
  if (!memory && (errno == EINVAL || errno == EACCES))
    memory = UniqueFd(::memfd_create("mcpac-image", kFlags));
  if (!memory) return failed("cannot make memory for the program", errno);
  return ImageMemory(std::move(memory));
}

void ImageMemory::make_ready() {
  if (::fallocate(memory_.get(), 0, 0, kUsualImage) != 0) return;
}

Result<UniqueFd> ImageMemory::sealed_with(std::string_view bytes) && {
  if (const int error = write_all(memory_.get(), bytes); error != 0)
    return failed("cannot copy the program into memory", error);
  if (::fcntl(memory_.get(), F_ADD_SEALS,
              F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return failed("cannot seal the program", errno);
  return std::move(memory_);
}

}  // namespace mcpac::run
