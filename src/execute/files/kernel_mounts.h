// KernelMounts: what the kernel's table of mounts says of a place: file systems that are no files
// but the kernel's own inside (proc, sys, devices), wherever they are mounted, and other mounts of
// the same folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"

namespace mcpac::execute {

// The place of one in or at `path`, which `place` is a descriptor of; empty: there is none.
[[nodiscard]] Result<std::string> kernel_mount_in(int place, const std::filesystem::path& path);

// The mounts of this process, as they were when it was read (proc_pid_mountinfo(5)).
class MountTable {
 public:
  [[nodiscard]] static Result<MountTable> read();
  // Where else `path` (absolute, free of links), or a part of it, can be seen: by another mount of
  // the same folder, of one above it, or of what is mounted or lies in it; also of what another
  // mount hides at that path; and by a mount that shows folders of others (an overlay, and FUSE
  // where its source names them).
  [[nodiscard]] std::vector<std::filesystem::path> elsewhere(
      const std::filesystem::path& path) const;

  // Whether other names than its own can lead to something by `folder`: mounts lie in it, or it
  // lies in one that shows folders of others which are there.
  [[nodiscard]] bool may_show_more(const std::filesystem::path& folder) const;

  struct Mount {
    std::uint64_t id = 0;
    std::string device;  // "major:minor"
    std::string root;    // the folder of its file system that it shows
    std::string point;
    std::string type;
    std::vector<std::string> layers = {};  // absolute paths of folders that it shows, there or not
  };

 private:
  [[nodiscard]] std::vector<std::filesystem::path> by_layers(
      const std::filesystem::path& path) const;
  friend Result<std::string> kernel_mount_in(int place, const std::filesystem::path& path);
  std::vector<Mount> mounts_;
};

}  // namespace mcpac::execute
