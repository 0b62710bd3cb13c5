// SPDX-License-Identifier: Apache-2.0

#include "sandbox/cgroup_adopt.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "sandbox/cgroup_base.h"
#include "sandbox/cgroup_files.h"

namespace mcpac::sandbox::cgroup {
namespace {

constexpr const char* kHostGroup = "mcpac-host";

bool is_alone(int group) {
  const auto processes = read(group, "cgroup.procs");
  return processes && *processes == std::to_string(::getpid()) + "\n";
}

bool can_adopt(const Own& own) {
  const int group = own.folder.get();
  const std::string name = own.path.substr(own.path.find_last_of('/') + 1);
  return !is_machines_root(group) && is_alone(group) && is_delegated(group, name) &&
         is_writable(group) && lists(group, "cgroup.controllers", {"memory", "pids"});
}

bool move_to(int group) {
  return write(group, "cgroup.procs", std::to_string(::getpid())) == 0;
}

void move_back(int group) {
  if (move_to(group)) ::unlinkat(group, kHostGroup, AT_REMOVEDIR);
}

bool has_other_groups(int group) {
  const int listed = ::openat(group, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(listed), ::closedir);
  if (!entries) return true;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (entry->d_type == DT_DIR && name != "." && name != ".." && name != kHostGroup) return true;
  }
  return false;
}

}  // namespace

Adopted Adopted::try_to() {
  auto own = find_own();
  if (!own || !can_adopt(*own) || find_base()) return {};
  const int group = own->folder.get();
  if (::mkdirat(group, kHostGroup, 0755) != 0 && errno != EEXIST) return {};
  const UniqueFd below = open_folder(group, kHostGroup);
  if (!below || !move_to(below.get())) {
    ::unlinkat(group, kHostGroup, AT_REMOVEDIR);
    return {};
  }
  if (write(group, "cgroup.subtree_control", "+memory +pids") != 0) {
    move_back(group);
    return {};
  }
  return Adopted(std::move(own->folder));
}

Adopted Adopted::of_dead_host() {
  const auto own = find_own();
  if (!own || !own->path.ends_with(std::string("/") + kHostGroup)) return {};
  return Adopted(open_folder(own->folder.get(), ".."));
}

// A server that is still ending keeps its group, and another warden of ours its base.
Adopted::~Adopted() {
  if (!group_ || has_other_groups(group_.get())) return;
  if (write(group_.get(), "cgroup.subtree_control", "-memory -pids") == 0) move_back(group_.get());
}

}  // namespace mcpac::sandbox::cgroup
