#include "core/file_stamp.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>

namespace mcpac {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * kSecond + time.tv_nsec;
}

}  // namespace

std::string FileStamp::text() const {
  return fmt::format("{}:{}:{}:{}:{}", device, inode, size, modified, changed);
}

std::optional<FileStamp> stamp_of(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileStamp{.device = info.st_dev,
                   .inode = info.st_ino,
                   .size = info.st_size,
                   .modified = nanoseconds(info.st_mtim),
                   .changed = nanoseconds(info.st_ctim),
                   .is_regular = S_ISREG(info.st_mode)};
}

bool is_settled(const FileStamp& stamp) {
  timespec now{};
  timespec tick{};
  if (::clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0 ||
      ::clock_getres(CLOCK_REALTIME_COARSE, &tick) != 0)
    return false;
  const bool whole_seconds = stamp.changed % kSecond == 0;
  const std::int64_t unsure = whole_seconds ? 2 * kSecond : 2 * nanoseconds(tick);
  return stamp.changed + unsure < nanoseconds(now);
}

}  // namespace mcpac
