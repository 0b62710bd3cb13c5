// SPDX-License-Identifier: Apache-2.0

// KernelMounts: the kernel's table of mounts at a place: file systems that are no files but the
// kernel's own inside (proc, sys, devices), wherever they are mounted, and other mounts of the same
// folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace mcpac::project {

// The place of one in or at `path`, which `place` is a descriptor of; empty: there is none.
[[nodiscard]] Result<std::string> kernel_mount_in(int place, const std::filesystem::path& path);

// The mounts of this process, as they were when it was read (proc_pid_mountinfo(5)).
class MountTable {
 public:
  [[nodiscard]] static Result<MountTable> read();
  // Of a text as the kernel writes it. Without a line no path lies in a mount.
  [[nodiscard]] static MountTable parse(const std::string& text);
  // Where else `path` (absolute, free of links), or a part of it, can be seen: by another mount of
  // the same folder, of one above it, or of what is mounted or lies in it; also of what another
  // mount hides at that path; and by a mount that shows folders of others (an overlay, and FUSE
  // where its source names them).
  [[nodiscard]] std::vector<std::filesystem::path> elsewhere(
      const std::filesystem::path& path) const;
  // Where `path` (absolute, normal) lies by the table, and its links are not followed: whether the
  // file system there answers by itself. Another (autofs, NFS, FUSE, …) asks a network or a
  // process for each look, and may answer late or never. False where no mount is known.
  [[nodiscard]] bool answers_at_once(const std::filesystem::path& path) const;
  // What `path` (absolute, normal) leads to, all links followed but that of its last name, as far
  // as each step answers_at_once().
  struct Reached {
    bool may_wait = false;                                     // a step does not: it was not made
    std::optional<std::filesystem::path> path = std::nullopt;  // nothing: it is not there
  };
  [[nodiscard]] Reached reach(const std::filesystem::path& path) const;

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
  // Of the mount that `path` lies in, which `place` is a descriptor of, or -1. Where the kernel
  // does not say (before Linux 5.8) the one with the longest point that holds the path, the last of
  // equals.
  [[nodiscard]] std::optional<std::uint64_t> around(const std::filesystem::path& path,
                                                    int place) const;
  [[nodiscard]] std::vector<std::filesystem::path> by_layers(
      const std::filesystem::path& path) const;
  friend Result<std::string> kernel_mount_in(int place, const std::filesystem::path& path);
  std::vector<Mount> mounts_;
};

}  // namespace mcpac::project
