#include "execute/changes/changes_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

bool is_gone(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

// One look at a tree that a program may be changing. What is gone when it is looked at does not
// count, and makes the look unclear: it can lie elsewhere, under a name that was not there yet.
// What cannot be looked at counts as endless: a program can close its folders and write on.
class Look {
 public:
  void add(int folder, std::size_t depth) {
    const auto take = [&](const char* name) {
      one(folder, name, depth);
      return bytes != kEndless;
    };
    if (depth > kDeepest || !each_name(folder, take)) bytes = kEndless;
  }
  std::uint64_t bytes = 0;
  bool clear = true;
  [[nodiscard]] bool has_too_many() const { return files_ > kMostChanges; }

 private:
  void one(int folder, const char* name, std::size_t depth) {
    if (++files_ > kMostChanges) {
      bytes = kEndless;
      return;
    }
    struct stat info {};
    if (::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return missed(errno);
    const std::uint64_t blocks = static_cast<std::uint64_t>(info.st_blocks) * kBlock;
    const auto size = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
    bytes = sum_of(bytes, std::max(blocks, size));
    if (!S_ISDIR(info.st_mode)) return;
    const UniqueFd inner(::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inner) return missed(errno);
    add(inner.get(), depth + 1);
  }
  void missed(int error) {
    clear = false;
    if (!is_gone(error)) bytes = kEndless;
  }

  std::size_t files_ = 0;
};

Look look_at(const std::filesystem::path& folder) {
  Look look;
  const UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (opened)
    look.add(opened.get(), 0);
  else if (!is_gone(errno))
    look.bytes = kEndless;
  return look;
}

// Of all folders, again where something moved meanwhile; the most that any look found.
Look look_well(const std::vector<std::filesystem::path>& folders, std::uint64_t bytes) {
  constexpr int kMostLooks = 8;
  Look most;
  for (int i = 0; i < kMostLooks; ++i) {
    Look all;
    for (const auto& folder : folders) {
      const Look one = look_at(folder);
      all.bytes = sum_of(all.bytes, one.bytes);
      all.clear = all.clear && one.clear;
    }
    most.bytes = std::max(most.bytes, all.bytes);
    most.clear = all.clear;
    if (most.clear || most.bytes > bytes) break;
  }
  return most;
}

// Files without a name are in no folder, and take room as long as somebody has them open. Nobody
// can say whose they are, so they are left alone until they threaten the disk.
class Room {
 public:
  explicit Room(const std::vector<std::filesystem::path>& folders)
      : folder_(folders.empty() ? "" : folders.front()), before_(now()) {}
  // More went than may, and three quarters of what was free.
  [[nodiscard]] bool runs_out(std::uint64_t bytes) const {
    const std::uint64_t left = now();
    return before_ != kEndless && left < before_ / 4 && before_ - left > bytes;
  }

 private:
  [[nodiscard]] std::uint64_t now() const {
    struct statvfs info {};
    if (::statvfs(folder_.c_str(), &info) != 0) return kEndless;
    return std::uint64_t{info.f_bfree} * std::uint64_t{info.f_frsize};
  }
  std::filesystem::path folder_;
  std::uint64_t before_;
};

void watch(const std::stop_token& stop, const std::vector<std::filesystem::path>& folders,
           std::uint64_t bytes, const Room& room, const std::function<void()>& over) {
  // What never stands still for that many turns hides something.
  constexpr int kMostUnclear = 3;
  int unclear = 0;
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, stop, kEvery, [&stop] { return stop.stop_requested(); })) {
    const Look look = look_well(folders, bytes);
    unclear = look.clear ? 0 : unclear + 1;
    const bool more = look.bytes > bytes || look.bytes == kEndless;
    if (!more && unclear < kMostUnclear && !room.runs_out(bytes)) continue;
    over();
    return;
  }
}

}  // namespace

std::uint64_t bytes_in(const std::filesystem::path& folder) {
  return look_at(folder).bytes;
}

bool hold_more_than(const std::vector<std::filesystem::path>& folders, std::uint64_t bytes) {
  const std::uint64_t sum = look_well(folders, bytes).bytes;
  return sum > bytes || sum == kEndless;
}

bool hold_too_many_files(const std::vector<std::filesystem::path>& folders) {
  return std::ranges::any_of(folders,
                             [](const auto& folder) { return look_at(folder).has_too_many(); });
}

ChangesWatch::ChangesWatch(std::vector<std::filesystem::path> folders, std::uint64_t bytes,
                           std::function<void()> over)
    : thread_([room = Room(folders), folders = std::move(folders), bytes, over = std::move(over)](
                  const std::stop_token& stop) { watch(stop, folders, bytes, room, over); }) {}

}  // namespace mcpac::execute
