#include "execute/changes/changes_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>

#include "execute/changes/folder_access.h"
#include "execute/changes/read_upper.h"

namespace mcpac::execute {
namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();
constexpr auto kEvery = std::chrono::milliseconds(100);
constexpr std::size_t kDeepest = 256;
constexpr std::uint64_t kBlock = 512;  // of st_blocks, whatever the file system's is

std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
  return a > kEndless - b ? kEndless : a + b;
}

// The program goes on writing meanwhile: what is gone when it is looked at does not count.
std::uint64_t add_up(int folder, std::size_t& files, std::size_t depth) {
  const auto names = names_in(folder, kMostChanges);
  if (!names || depth > kDeepest) return kEndless;
  files += names->size();
  if (files > kMostChanges) return kEndless;
  std::uint64_t sum = 0;
  for (const std::string& name : *names) {
    struct stat info {};
    if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const std::uint64_t blocks = static_cast<std::uint64_t>(info.st_blocks) * kBlock;
    const auto size = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
    sum = sum_of(sum, std::max(blocks, size));
    if (!S_ISDIR(info.st_mode)) continue;
    const UniqueFd inner(
        ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const std::uint64_t below = inner ? add_up(inner.get(), files, depth + 1) : 0;
    sum = sum_of(sum, below);
    if (sum == kEndless) return kEndless;
  }
  return sum;
}

void watch(const std::stop_token& stop, const std::vector<std::filesystem::path>& folders,
           std::uint64_t bytes, const std::function<void()>& over) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, stop, kEvery, [&stop] { return stop.stop_requested(); })) {
    if (!hold_more_than(folders, bytes)) continue;
    over();
    return;
  }
}

}  // namespace

std::uint64_t bytes_in(const std::filesystem::path& folder) {
  const UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  std::size_t files = 0;
  return opened ? add_up(opened.get(), files, 0) : 0;
}

bool hold_more_than(const std::vector<std::filesystem::path>& folders, std::uint64_t bytes) {
  std::uint64_t sum = 0;
  for (const auto& folder : folders) sum = sum_of(sum, bytes_in(folder));
  return sum > bytes || sum == kEndless;
}

ChangesWatch::ChangesWatch(std::vector<std::filesystem::path> folders, std::uint64_t bytes,
                           std::function<void()> over)
    : thread_([folders = std::move(folders), bytes, over = std::move(over)](
                  const std::stop_token& stop) { watch(stop, folders, bytes, over); }) {}

}  // namespace mcpac::execute
