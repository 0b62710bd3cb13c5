// SPDX-License-Identifier: Apache-2.0

#include "core/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>  // mkdtemp
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "core/abandoned.h"
#include "core/write_all.h"

namespace mcpac {
namespace {

std::string reason(int error) {
  return std::system_category().message(error);
}

// How much there is to read as far as the kernel knows: pipes and files of /proc have no size, and
// a file may grow or shrink meanwhile.
std::size_t expected_bytes(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return 0;
  const off_t at = ::lseek(fd, 0, SEEK_CUR);
  return at < 0 || at >= info.st_size ? 0 : static_cast<std::size_t>(info.st_size - at);
}

}  // namespace

int sync_folder(const std::filesystem::path& path) {
  const UniqueFd folder(
      ::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return errno == EACCES ? 0 : errno;
  if (::fsync(folder.get()) == 0) return 0;
  const bool has_none = errno == EINVAL || errno == EOPNOTSUPP;
  return has_none ? 0 : errno;
}

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int UniqueFd::release() {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

void UniqueFd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<std::string> read_descriptor(int fd, std::string_view name, std::size_t max_bytes) {
  std::string text;
  std::array<char, 65536> buffer;
  // What is expected is read into its place, not copied there.
  std::size_t expected = std::min(expected_bytes(fd), max_bytes);
  for (;;) {
    ssize_t n = 0;
    if (expected > text.size()) {
      const std::size_t before = text.size();
      text.resize_and_overwrite(expected, [&](char* into, std::size_t size) {
        n = ::read(fd, into + before, size - before);
        return before + (n > 0 ? static_cast<std::size_t>(n) : 0);
      });
      if (n > 0) continue;
      expected = 0;
    } else {
      n = ::read(fd, buffer.data(), buffer.size());
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      return fail(ErrorId::kFileUnreadable, fmt::format("cannot read {}: {}", name, reason(errno)),
                  {.where = std::string(name)});
    }
    if (n == 0) return text;
    if (text.size() + static_cast<std::size_t>(n) > max_bytes) {
      return fail(ErrorId::kFileUnreadable,
                  fmt::format("{} is larger than {} bytes", name, max_bytes),
                  {.where = std::string(name)});
    }
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  // Never waits: a pipe that was put there instead of a file has no end.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) {
    return fail(ErrorId::kFileUnreadable,
                fmt::format("cannot open {}: {}", path.string(), reason(errno)),
                {.where = path.string()});
  }
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return fail(ErrorId::kFileUnreadable,
                fmt::format("{} is {}, not a file", path.string(),
                            S_ISDIR(info.st_mode) ? "a folder" : "a pipe or a device"),
                {.where = path.string()});
  }
  return read_descriptor(fd.get(), path.string(), max_bytes);
}

Result<void> write_file_atomic(const std::filesystem::path& path, std::string_view bytes,
                               unsigned mode) {
  // A name of its own for every write: threads and processes may write the same file at once, and
  // what a killed one left behind must not be in the way (it is swept, core/abandoned.h).
  const std::string temporary = name_beside(path).string();
  auto give_up = [&](int error) {
    ::unlink(temporary.c_str());
    return fail(ErrorId::kFileUnwritable,
                fmt::format("cannot write {}: {}", path.string(), reason(error)),
                {.where = path.string()});
  };
  const UniqueFd fd(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!fd) {
    return fail(ErrorId::kFileUnwritable,
                fmt::format("cannot write {}: {}", path.string(), reason(errno)),
                {.where = path.string()});
  }
  if (const int error = write_all(fd.get(), bytes); error != 0) return give_up(error);
  if (::fsync(fd.get()) != 0) return give_up(errno);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return give_up(errno);
  if (const int error = sync_folder(path.parent_path()); error != 0) return give_up(error);
  return {};
}

unsigned own_umask() {
  constexpr unsigned kClosed = 077;
  constexpr std::string_view kLabel = "\nUmask:\t";
  const auto status = read_file("/proc/self/status");
  const auto at = status ? status->find(kLabel) : std::string::npos;
  if (at == std::string::npos) return kClosed;
  unsigned mask = 0;
  const char* const begin = status->data() + at + kLabel.size();
  const auto read = std::from_chars(begin, status->data() + status->size(), mask, 8);
  return read.ec == std::errc() ? mask & 0777U : kClosed;
}

namespace {

// Of the environment, where it is an absolute path.
std::filesystem::path named_folder(const char* variable) {
  const char* value = std::getenv(variable);
  const std::filesystem::path folder = value == nullptr ? "" : value;
  return folder.is_absolute() ? folder : std::filesystem::path();
}

bool lies_in(const std::filesystem::path& place, const std::filesystem::path& folder) {
  if (folder.empty()) return false;
  const auto within = place.lexically_normal().lexically_relative(folder.lexically_normal());
  return !within.empty() && *within.begin() != "..";
}

struct LedBy {
  const char* variable = "";
  std::string now{};  // "HOME=/home/x"; empty: nothing is set
};

LedBy led_by(const std::filesystem::path& place) {
  const auto home = named_folder("HOME");
  const auto said = [](const char* name, const std::filesystem::path& folder) {
    return fmt::format("{}={}", name, folder.string());
  };
  for (const auto& [variable, below_home] :
       {std::pair("XDG_CACHE_HOME", ".cache"), std::pair("XDG_STATE_HOME", ".local/state"),
        std::pair("XDG_CONFIG_HOME", ".config"), std::pair("XDG_RUNTIME_DIR", ""),
        std::pair("TMPDIR", "")}) {
    const auto named = named_folder(variable);
    if (lies_in(place, named)) return {variable, said(variable, named)};
    const bool is_below_home = named.empty() && !home.empty() && below_home[0] != '\0';
    if (is_below_home && lies_in(place, home / below_home)) return {variable, said("HOME", home)};
  }
  return lies_in(place, user_temporary_folder()) ? LedBy{"TMPDIR"} : LedBy{};
}

}  // namespace

std::filesystem::path user_temporary_folder() {
  const char* const said = std::getenv("TMPDIR");
  const std::filesystem::path named = said == nullptr ? "" : said;
  const std::filesystem::path folder = named.is_absolute() ? named : "/tmp";
  std::error_code error;
  auto real = std::filesystem::canonical(folder, error);
  return error ? folder.lexically_normal() : real;
}

std::string remedy_of(int error, const std::filesystem::path& place) {
  const LedBy led = led_by(place);
  const std::string elsewhere =
      led.variable[0] == '\0'
          ? std::string("name a folder that you can write")
          : fmt::format("point {} at a folder that you can write{}", led.variable,
                        led.now.empty() ? "" : fmt::format(" ({} leads there now)", led.now));
  switch (error) {
    case ENOSPC:
    case EDQUOT: return "free space there, or " + elsewhere;
    case EROFS: return "its file system is read-only: " + elsewhere;
    case EACCES:
    case EPERM: return "it may not be written by you: " + elsewhere;
    default: return elsewhere;
  }
}

Result<TemporaryFolder> TemporaryFolder::create(const std::filesystem::path& parent,
                                                std::string_view prefix) {
  std::error_code failed;
  std::filesystem::create_directories(parent, failed);
  const std::string mark = own_mark();
  std::string name =
      (parent / fmt::format("{}{}{}XXXXXX", prefix, mark, mark.empty() ? "" : ".")).string();
  if (::mkdtemp(name.data()) == nullptr) {
    // What is missing above it could not be made, which says more.
    const int error = failed && errno == ENOENT ? failed.value() : errno;
    return fail(ErrorId::kFileUnwritable,
                fmt::format("cannot make a folder in {}: {}", parent.string(), reason(error)),
                {.where = parent.string(), .fix = remedy_of(error, parent)});
  }
  return TemporaryFolder(name);
}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  try {
    std::ignore = remove_tree(AT_FDCWD, path_.native());
  } catch (const std::exception&) {
    // No memory: it has our mark, and a later process sweeps it.
    return;
  }
}

}  // namespace mcpac
