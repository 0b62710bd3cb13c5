// SPDX-License-Identifier: Apache-2.0

// FileStamp: identity and state of the file that a path leads to. Replacing or writing the file, or
// changing its rights, changes the stamp.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace mcpac {

// Since 1970. Not one number: a file may be dated beyond what 64 bits of nanoseconds hold.
struct FileTime {
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  friend bool operator==(const FileTime&, const FileTime&) = default;
  [[nodiscard]] std::string text() const;
};

struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;  // bytes
  FileTime modified;
  FileTime changed;         // of contents, rights or links
  bool is_regular = false;  // else a folder, device, pipe or socket
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
  // On one line, without spaces.
  [[nodiscard]] std::string text() const;
};

// Of what the path leads to at last; nothing where it leads to nothing that we may see.
[[nodiscard]] std::optional<FileStamp> stamp_of(const std::filesystem::path& path);

// Whether whatever changes the file from now on gives it another stamp. Times are those of the
// kernel's clock, which stands still for some milliseconds; some file systems keep whole seconds.
[[nodiscard]] bool is_settled(const FileStamp& stamp);

}  // namespace mcpac
