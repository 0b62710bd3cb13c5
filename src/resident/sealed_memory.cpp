// SPDX-License-Identifier: Apache-2.0

#include "resident/sealed_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/write_all.h"

namespace mcpac::resident {
namespace {

constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

// Never to be executed (Linux 6.3), which some machines demand (vm.memfd_noexec).
UniqueFd new_memory() {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  constexpr unsigned kNotExecutable = 0x8;  // MFD_NOEXEC_SEAL
  UniqueFd memory(::memfd_create("mcpac-request", kFlags | kNotExecutable));
  if (!memory && errno == EINVAL) memory = UniqueFd(::memfd_create("mcpac-request", kFlags));
  return memory;
}

}  // namespace

std::unexpected<Error> unreadable_request(std::string why) {
  return fail(ErrorId::kUsage, "a request to the resident host cannot be read",
              {.why = std::move(why)});
}

Result<UniqueFd> seal(std::string_view bytes) {
  UniqueFd memory = new_memory();
  if (!memory || write_all(memory.get(), bytes) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0)
    return unreadable_request("there is no memory for it");
  return memory;
}

Result<std::string> read_sealed(int fd, std::size_t max_bytes) {
  // It may have more than these.
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) return unreadable_request("it is no sealed memory");
  struct stat info {};
  if (::fstat(fd, &info) != 0 || info.st_size < 0 ||
      static_cast<std::size_t>(info.st_size) > max_bytes)
    return unreadable_request("it is too long");
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return unreadable_request("it ends early");
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

}  // namespace mcpac::resident
