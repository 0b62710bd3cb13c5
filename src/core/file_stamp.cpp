// SPDX-License-Identifier: Apache-2.0

#include "core/file_stamp.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>

namespace mcpac {
namespace {

FileTime time_of(const timespec& time) {
  return {time.tv_sec, time.tv_nsec};
}

}  // namespace

std::string FileTime::text() const {
  return fmt::format("{}.{:09}", seconds, nanoseconds);
}

std::string FileStamp::text() const {
  return fmt::format("{}:{}:{}:{}:{}", device, inode, size, modified.text(), changed.text());
}

std::optional<FileStamp> stamp_of(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileStamp{.device = info.st_dev,
                   .inode = info.st_ino,
                   .size = info.st_size,
                   .modified = time_of(info.st_mtim),
                   .changed = time_of(info.st_ctim),
                   .is_regular = S_ISREG(info.st_mode)};
}

bool is_settled(const FileStamp& stamp) {
  timespec now{};
  timespec tick{};
  if (::clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0 ||
      ::clock_getres(CLOCK_REALTIME_COARSE, &tick) != 0)
    return false;
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t unsure = stamp.changed.nanoseconds == 0 ? 2 * kSecond : 2 * tick.tv_nsec;
  if (tick.tv_sec != 0 || stamp.changed.seconds > now.tv_sec) return false;
  if (now.tv_sec - stamp.changed.seconds > 3) return true;
  const std::int64_t age =
      (now.tv_sec - stamp.changed.seconds) * kSecond + now.tv_nsec - stamp.changed.nanoseconds;
  return age > unsure;
}

}  // namespace mcpac
