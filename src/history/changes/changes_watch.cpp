// SPDX-License-Identifier: Apache-2.0

#include "history/changes/changes_watch.h"

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
#include <optional>
#include <string>
#include <utility>

#include "history/changes/folder_access.h"
#include "history/changes/read_upper.h"

namespace mcpac::history {
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
// However deep the tree, only one folder of it is open at a time.
class Look {
 public:
  explicit Look(int root) : root_(root) { folder({}, 0); }
  Look() = default;
  std::uint64_t bytes = 0;
  bool clear = true;
  [[nodiscard]] bool has_too_many() const { return files_ > kMostChanges; }

 private:
  void folder(const std::filesystem::path& at, std::size_t depth) {
    if (depth > kDeepest) {
      bytes = kEndless;
      return;
    }
    std::vector<std::string> below;
    {
      const UniqueFd opened = open_deep(root_, at, O_RDONLY | O_DIRECTORY);
      if (!opened) return missed(errno);
      const bool listed = each_name(opened.get(), [&](const char* name) {
        if (one(opened.get(), name)) below.emplace_back(name);
        return bytes != kEndless;
      });
      if (!listed) bytes = kEndless;
    }
    for (const std::string& name : below) {
      if (bytes == kEndless) return;
      folder(at / name, depth + 1);
    }
  }
  // Whether it is a folder.
  bool one(int folder, const char* name) {
    if (++files_ > kMostChanges) {
      bytes = kEndless;
      return false;
    }
    struct stat info {};
    if (::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
      missed(errno);
      return false;
    }
    const std::uint64_t blocks = static_cast<std::uint64_t>(info.st_blocks) * kBlock;
    const auto size = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
    bytes = sum_of(bytes, std::max(blocks, size));
    return S_ISDIR(info.st_mode);
  }
  void missed(int error) {
    clear = false;
    if (!is_gone(error)) bytes = kEndless;
  }

  int root_ = -1;
  std::size_t files_ = 0;
};

Look look_at(const std::filesystem::path& folder) {
  const UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (opened) return Look(opened.get());
  Look look;
  if (!is_gone(errno)) look.bytes = kEndless;
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

// Free space of the disk. It is unknown whose files took the rest.
class Disk {
 public:
  explicit Disk(const std::vector<std::filesystem::path>& folders)
      : folder_(folders.empty() ? "" : folders.front()) {}
  // Nothing: it does not say.
  [[nodiscard]] std::optional<std::uint64_t> left() const {
    struct statvfs info {};
    if (::statvfs(folder_.c_str(), &info) != 0) return std::nullopt;
    return std::uint64_t{info.f_bfree} * std::uint64_t{info.f_frsize};
  }

 private:
  std::filesystem::path folder_;
};

// Judges one look after the other, from before the first byte is written.
class Judge {
 public:
  Judge(const std::vector<std::filesystem::path>& folders, std::uint64_t bytes)
      : disk_(folders), most_(bytes), before_(disk_.left()), left_(before_) {}

  [[nodiscard]] bool is_over(const Look& look) {
    if (look.bytes > most_ || look.bytes == kEndless) return true;
    const auto left = disk_.left();
    if (look.clear) {
      unclear_ = 0;
      held_ = look.bytes;
      left_ = left;
    }
    return hides(look, left) || runs_out(left);
  }

 private:
  // What never stands still for some turns may hide files. It may also be a program with many
  // threads that save theirs (a file written beside its place, and renamed), so what counts is what
  // went from the disk since a look was clear: no more can be hidden.
  bool hides(const Look& look, std::optional<std::uint64_t> left) {
    constexpr int kMostUnclear = 3;
    if (look.clear || ++unclear_ < kMostUnclear) return false;
    if (!left || !left_) return true;
    const std::uint64_t went = *left_ - std::min(*left_, *left);
    return sum_of(held_, went) > most_;
  }
  // Files without a name are in no folder, and take room as long as a process has them open. They
  // are left alone until they threaten the disk: more went than may, and three quarters of what was
  // free.
  [[nodiscard]] bool runs_out(std::optional<std::uint64_t> left) const {
    return before_ && left && *left < *before_ / 4 && *before_ - *left > most_;
  }

  Disk disk_;
  std::uint64_t most_;
  std::optional<std::uint64_t> before_;
  int unclear_ = 0;
  std::uint64_t held_ = 0;             // at the last clear look
  std::optional<std::uint64_t> left_;  // of the disk then
};

void watch(const std::stop_token& stop, const std::vector<std::filesystem::path>& folders,
           std::uint64_t bytes, Judge judge, const std::function<void()>& over) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, stop, kEvery, [&stop] { return stop.stop_requested(); })) {
    if (!judge.is_over(look_well(folders, bytes))) continue;
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
    : thread_([judge = Judge(folders, bytes), folders = std::move(folders), bytes,
               over = std::move(over)](const std::stop_token& stop) {
        watch(stop, folders, bytes, judge, over);
      }) {}

}  // namespace mcpac::history
