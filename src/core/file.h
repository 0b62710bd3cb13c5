// SPDX-License-Identifier: Apache-2.0

// Files: whole reads with a limit, atomic writes, and a descriptor that closes itself.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"

namespace mcpac {

// Owns one descriptor; -1 means none. Move-only.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int release();
  void reset();

 private:
  int fd_ = -1;
};

// Reads a regular file (or pipe) whole; more than max_bytes is an error, never a cut text.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::size_t max_bytes = std::size_t{64} << 20U);
// Reads a descriptor to its end with the same limit; `name` stands in the error.
[[nodiscard]] Result<std::string> read_descriptor(int fd, std::string_view name,
                                                  std::size_t max_bytes);

// Writes beside the target and renames, so a reader sees the old bytes or the new ones. The file is
// synced before the rename, and the folder after it: a failure of either is told, and writing again
// syncs again. `mode` is the permission of a new file.
[[nodiscard]] Result<void> write_file_atomic(const std::filesystem::path& path,
                                             std::string_view bytes, unsigned mode = 0644);

// The names in it are on the disk, too: else a machine that loses its power has the old file, or
// none. 0 or errno. A folder that may be written to and not be read cannot be asked for it, nor can
// some file systems: those are no errors.
[[nodiscard]] int sync_folder(const std::filesystem::path& path);

// Permissions that files of this process do not get (umask). Read and not set, as umask(2) does:
// other threads make files. 077 where it cannot be read.
[[nodiscard]] unsigned own_umask();

// The user's folder for what is gone when its maker is: $TMPDIR where that is an absolute path,
// else /tmp. Without links and ".." where it is there: sandboxes mount what lies in it by its path.
[[nodiscard]] std::filesystem::path user_temporary_folder();

// Fix where something at `place` cannot be made or written, for this errno: the variable of the
// environment that leads there, and what it is now.
[[nodiscard]] std::string remedy_of(int error, const std::filesystem::path& place);

// A fresh private folder (mode 0700) that is removed with everything in it.
class TemporaryFolder {
 public:
  [[nodiscard]] static Result<TemporaryFolder> create(const std::filesystem::path& parent,
                                                      std::string_view prefix);
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace mcpac
