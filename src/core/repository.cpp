// SPDX-License-Identifier: Apache-2.0

#include "core/repository.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <string>

#include "core/folded_name.h"

namespace mcpac {
namespace {

constexpr std::size_t kLongest = 64;  // a longer name is none, however much of it is not seen

// A bit for each of kRepositoryParts; 0: none.
unsigned part_written(std::string_view name) {
  const auto* const found = std::ranges::find(kRepositoryParts, name);
  return found == std::end(kRepositoryParts) ? 0U : 1U << (found - std::begin(kRepositoryParts));
}

unsigned part_folded(std::string_view name) {
  if (name.size() > kLongest) return 0;
  const std::string plain = folded(name);
  return part_written(plain == "head" ? "HEAD" : plain);
}

// As the file system has them.
RepositoryParts parts_in(int folder) {
  RepositoryParts parts;
  for (const std::string_view name : kRepositoryParts) {
    struct stat info {};
    if (::fstatat(folder, name.data(), &info, AT_SYMLINK_NOFOLLOW) == 0) parts.add(name);
  }
  return parts;
}

}  // namespace

void RepositoryParts::add(std::string_view name) {
  written_ |= part_written(name);
  folded_ |= part_folded(name);
}

bool is_repository_part(std::string_view name) {
  return part_folded(name) != 0;
}

bool completes_repository(int folder, std::string_view name, NamesCompared compared) {
  const unsigned part = compared == NamesCompared::kFolded ? part_folded(name) : part_written(name);
  if (part == 0) return false;
  RepositoryParts parts = parts_in(folder);
  parts.written_ |= part;
  return parts.is_whole(NamesCompared::kAsWritten);
}

bool is_repository(int folder) {
  return parts_in(folder).is_whole(NamesCompared::kAsWritten);
}

std::expected<UniqueFd, int> take_repository_turn(int folder) {
  constexpr int kMostWaits = 10'000;
  constexpr timespec kMoment{.tv_sec = 0, .tv_nsec = 200'000};
  UniqueFd turn(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC));
  if (!turn) return std::unexpected(errno);
  for (int i = 0; i < kMostWaits; ++i) {
    if (::flock(turn.get(), LOCK_EX | LOCK_NB) == 0) return turn;
    if (errno != EWOULDBLOCK && errno != EINTR) return std::unexpected(errno);
    ::nanosleep(&kMoment, nullptr);
  }
  return std::unexpected(EAGAIN);
}

}  // namespace mcpac
