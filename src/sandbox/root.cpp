// SPDX-License-Identifier: Apache-2.0

#include "sandbox/root.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "sandbox/capabilities.h"
#include "sandbox/landlock.h"

namespace mcpac::sandbox {
namespace {

// Every system has this folder, and nothing needs it any more once the mounts have been picked up.
constexpr const char* kStage = "/proc";

std::uint64_t attributes_of(Mount::Access access) {
  constexpr std::uint64_t kAlways = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  switch (access) {
    case Mount::Access::kRead: return kAlways | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC;
    case Mount::Access::kReadExecute: return kAlways | MOUNT_ATTR_RDONLY;
    case Mount::Access::kReadWrite: return kAlways | MOUNT_ATTR_NOEXEC;
  }
  return kAlways | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC;
}

// A root warden's child owns no files; an id-mapped mount shows it root's files as its own, so
// that private sources and a private work folder serve. Some file systems cannot: then the plain
// permissions decide, which can only refuse more.
int map_owner(int tree, int id_map) {
  mount_attr map{};
  map.attr_set = MOUNT_ATTR_IDMAP;
  map.userns_fd = static_cast<std::uint64_t>(id_map);
  if (::mount_setattr(tree, "", AT_EMPTY_PATH, &map, sizeof map) == 0) return 0;
  return errno == EINVAL || errno == EOPNOTSUPP ? 0 : errno;
}

// A detached copy of what lies at the path, restricted before anything can see it. The path may
// have been exchanged since the warden looked: the copy must be the very file or folder that it
// saw.
struct Origin {
  const char* path;
  dev_t device;
  ino_t inode;
  std::uint64_t attributes;
};

constexpr std::uint64_t kDeviceAttributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;

int pick_up(const Origin& origin, int id_map, int& tree) {
  tree = ::open_tree(AT_FDCWD, origin.path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  if (tree < 0) return errno;
  struct stat seen {};
  if (::fstat(tree, &seen) != 0) return errno;
  if (seen.st_dev != origin.device || seen.st_ino != origin.inode) return ESTALE;
  if (id_map >= 0) {
    if (const int error = map_owner(tree, id_map)) return error;
  }
  mount_attr restrict {};
  restrict.attr_set = origin.attributes;
  restrict.propagation = MS_PRIVATE;
  return ::mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, & restrict, sizeof restrict) == 0
             ? 0
             : errno;
}

// Parts of one mount: one tree, or for an overlay two.
struct Trees {
  int place = -1;
  int changes = -1;
};

int pick_up_all(const PlannedMount& mount, int id_map, Trees& trees) {
  if (!mount.is_of_host()) return 0;
  const bool overlay = !mount.changes.empty();
  const std::uint64_t attributes =
      mount.kind == Mount::Kind::kDevice
          ? kDeviceAttributes
          : attributes_of(overlay ? Mount::Access::kRead : mount.access);
  const Origin place{mount.host.c_str(), mount.device, mount.inode, attributes};
  if (const int error = pick_up(place, id_map, trees.place)) return error;
  if (!overlay) return 0;
  const Origin changes{mount.changes.c_str(), mount.changes_device, mount.changes_inode,
                       attributes_of(Mount::Access::kReadWrite)};
  return pick_up(changes, id_map, trees.changes);
}

// The root as it is made: the stage, and where mount points may be made besides.
struct Stage {
  int root = -1;
  dev_t device = 0;
  std::array<dev_t, kMostMounts> own{};  // private folders, which hold nothing of the host's
  std::size_t own_count = 0;
};

bool is_own(const Stage& stage, int folder) {
  struct stat here {};
  if (::fstat(folder, &here) != 0) return false;
  const auto* const end = stage.own.data() + stage.own_count;
  return here.st_dev == stage.device || std::find(stage.own.data(), end, here.st_dev) != end;
}

// A mount point below a mount must be there: nothing is made in what belongs to the host.
int make_point(const Stage& stage, int folder, const char* name, bool file) {
  if (!is_own(stage, folder)) return 0;
  if (!file) return ::mkdirat(folder, name, 0755) == 0 || errno == EEXIST ? 0 : errno;
  const UniqueFd made(::openat(folder, name, O_CREAT | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0444));
  return made ? 0 : errno;
}

using Name = std::array<char, NAME_MAX + 1>;

// Folder by folder and never through a symbolic link: part of the way may lie in a mount made
// before, whose content is not ours. Of a symbolic link to be made the folder and the name are
// found.
int make_mount_point(const Stage& stage, const PlannedMount& mount, UniqueFd& point, Name& name) {
  UniqueFd folder(::fcntl(stage.root, F_DUPFD_CLOEXEC, 4));
  std::string_view rest = mount.inside;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(part.size() == rest.size() ? part.size() : part.size() + 1);
    if (part.size() > NAME_MAX) return ENAMETOOLONG;
    std::memcpy(name.data(), part.data(), part.size());
    name[part.size()] = '\0';
    if (rest.empty() && mount.kind == Mount::Kind::kLink) break;
    const bool file = rest.empty() && !mount.directory;
    if (const int error = make_point(stage, folder.get(), name.data(), file)) return error;
    const int kind = file ? 0 : O_DIRECTORY;
    UniqueFd next(::openat(folder.get(), name.data(), O_PATH | O_NOFOLLOW | O_CLOEXEC | kind));
    if (!next) return errno;
    folder = std::move(next);
  }
  point = std::move(folder);
  return 0;
}

int attach(int tree, int point) {
  constexpr unsigned kByDescriptors = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
  return ::move_mount(tree, "", point, "", kByDescriptors) == 0 ? 0 : errno;
}

// Layers of an overlay are named by paths, so they lie in the stage while it is made; the overlay
// keeps copies of their mounts. Names in them never become part of an option.
constexpr const char* kLower = ".mcpac-lower";
constexpr const char* kUpper = ".mcpac-upper";
constexpr const char* kLayers =
    "lowerdir=/proc/.mcpac-lower,upperdir=/proc/.mcpac-upper/upper,"
    "workdir=/proc/.mcpac-upper/work,userxattr";

int attach_layer(int root, const char* name, int tree) {
  if (::mkdirat(root, name, 0700) != 0) return errno;
  const UniqueFd point(::openat(root, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  return point ? attach(tree, point.get()) : errno;
}

int detach_layer(int root, const char* name) {
  if (::umount2(name, MNT_DETACH | UMOUNT_NOFOLLOW) != 0) return errno;
  return ::unlinkat(root, name, AT_REMOVEDIR) == 0 ? 0 : errno;
}

// The working folder is the stage before and after; `userxattr` is what the kernel admits to an
// ordinary user, and root's changes shall look the same.
int make_overlay(int root, const Plan& plan, const Trees& trees, int point) {
  if (const int error = attach_layer(root, kLower, trees.place)) return error;
  if (const int error = attach_layer(root, kUpper, trees.changes)) return error;
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (::fchdir(point) != 0) return errno;
  // The mounter of an overlay is the one who works on its layers; id-mapped ones know the child's
  // id alone.
  const bool own_id = plan.identity == Identity::kOwnId;
  if (own_id) {
    if (const int error = make_files_as(plan.user)) return error;
  }
  if (::mount("changes", ".", "overlay", kFlags, kLayers) != 0) return errno;
  if (own_id) {
    if (const int error = make_files_as_before()) return error;
  }
  if (::fchdir(root) != 0) return errno;
  if (const int error = detach_layer(root, kLower)) return error;
  return detach_layer(root, kUpper);
}

// What is mounted as the working folder's content; the stage is that before and after.
int mount_at(const Stage& stage, int point, const char* type, unsigned long flags,
             const char* options) {
  if (::fchdir(point) != 0) return errno;
  const int error = ::mount(type, ".", type, flags, options) == 0 ? 0 : errno;
  return ::fchdir(stage.root) == 0 ? error : errno;
}

int make_private(const Stage& stage, const Plan& plan, const PlannedMount& mount, int point) {
  // One for each page and at least a few: what holds nothing takes memory, too.
  const std::uint64_t inodes = std::max<std::uint64_t>(mount.size / 4096U, 64U);
  std::array<char, 128> options{};
  const auto size = static_cast<unsigned long long>(mount.size);
  const auto most = static_cast<unsigned long long>(inodes);
  if (plan.identity == Identity::kOwnId) {
    std::snprintf(options.data(), options.size(),
                  "mode=0700,size=%llu,nr_inodes=%llu,uid=%u,gid=%u", size, most, plan.user,
                  plan.user);
  } else {
    std::snprintf(options.data(), options.size(), "mode=0700,size=%llu,nr_inodes=%llu", size, most);
  }
  return mount_at(stage, point, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options.data());
}

// The kernel gives no /proc to a user namespace that sees parts of the host's only, as in most
// containers, and knows no `subset` before 5.8. Then there is none.
int make_processes(const Stage& stage, int point) {
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  const int error = mount_at(stage, point, "proc", kFlags, "hidepid=2,subset=pid");
  return error == EPERM || error == EINVAL || error == EACCES ? 0 : error;
}

// A copy of an empty folder or file that no one may read or change.
constexpr const char* kAbsentName = ".mcpac-absent";

int make_absent(const Stage& stage, const PlannedMount& mount, int point) {
  if (mount.directory) {
    if (::mkdirat(stage.root, kAbsentName, 0) != 0) return errno;
  } else {
    const UniqueFd made(
        ::openat(stage.root, kAbsentName, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0));
    if (!made) return errno;
  }
  const UniqueFd tree(::open_tree(stage.root, kAbsentName, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
  if (!tree) return errno;
  mount_attr restrict {};
  restrict.attr_set = attributes_of(Mount::Access::kRead);
  if (::mount_setattr(tree.get(), "", AT_EMPTY_PATH, & restrict, sizeof restrict) != 0)
    return errno;
  if (const int error = attach(tree.get(), point)) return error;
  // Its own inode each, so that one name serves for all.
  return ::unlinkat(stage.root, kAbsentName, mount.directory ? AT_REMOVEDIR : 0) == 0 ? 0 : errno;
}

bool holds_places(const Plan& plan, const PlannedMount& folder) {
  return std::any_of(plan.mounts.begin(), plan.mounts.end(), [&](const PlannedMount& mount) {
    return mount.kind == Mount::Kind::kHost && mount.access == Mount::Access::kReadWrite &&
           mount.inside.size() > folder.inside.size() &&
           mount.inside.compare(0, folder.inside.size(), folder.inside) == 0 &&
           mount.inside[folder.inside.size()] == '/';
  });
}

int allow_in_landlock(const Plan& plan, const PlannedMount& mount, int folder) {
  if (!plan.ruleset) return 0;
  return allow_made(plan.ruleset.get(), folder, mount, holds_places(plan, mount),
                    plan.landlock_abi);
}

// Opens the current content of the mount point.
int reopen(const Stage& stage, const PlannedMount& mount, UniqueFd& made) {
  Name name{};
  return make_mount_point(stage, mount, made, name);
}

int put_down_overlay(const Stage& stage, const Plan& plan, const PlannedMount& mount,
                     const Trees& trees, int point) {
  if (const int error = make_overlay(stage.root, plan, trees, point)) return error;
  UniqueFd merged;
  if (const int error = reopen(stage, mount, merged)) return error;
  // A kernel that cannot write to the layers makes an overlay for reading, and says so nowhere
  // else.
  struct statfs made {};
  if (::fstatfs(merged.get(), &made) != 0) return errno;
  if ((made.f_flags & ST_RDONLY) != 0) return EROFS;
  return allow_in_landlock(plan, mount, merged.get());
}

int put_down_made(Stage& stage, const Plan& plan, const PlannedMount& mount, int point) {
  if (mount.kind == Mount::Kind::kAbsent) return make_absent(stage, mount, point);
  if (mount.kind == Mount::Kind::kPrivate) {
    if (const int error = make_private(stage, plan, mount, point)) return error;
  } else if (mount.kind == Mount::Kind::kProcesses) {
    if (const int error = make_processes(stage, point)) return error;
  }
  UniqueFd made;
  if (const int error = reopen(stage, mount, made)) return error;
  if (mount.kind == Mount::Kind::kPrivate) {
    struct stat info {};
    if (::fstat(made.get(), &info) != 0) return errno;
    stage.own[stage.own_count++] = info.st_dev;
  }
  return allow_in_landlock(plan, mount, made.get());
}

int put_down(Stage& stage, const Plan& plan, const PlannedMount& mount, const Trees& trees) {
  UniqueFd point;
  Name name{};
  if (const int error = make_mount_point(stage, mount, point, name)) return error;
  if (mount.kind == Mount::Kind::kLink) {
    if (!is_own(stage, point.get())) return EROFS;
    return ::symlinkat(mount.host.c_str(), point.get(), name.data()) == 0 ? 0 : errno;
  }
  if (!mount.is_of_host()) return put_down_made(stage, plan, mount, point.get());
  if (mount.changes.empty()) return attach(trees.place, point.get());
  return put_down_overlay(stage, plan, mount, trees, point.get());
}

// The inodes of the stage are counted, so that nothing but the mount points fits into it.
int make_stage(const Plan& plan) {
  std::size_t inodes = 2;
  for (const PlannedMount& mount : plan.mounts) {
    const bool has_sources = !mount.changes.empty() || mount.kind == Mount::Kind::kAbsent;
    inodes += has_sources ? 3 : 1;  // with its layers, or with what it is a copy of
    for (const char c : mount.inside) inodes += c == '/' ? 1 : 0;
  }
  std::array<char, 96> options{};
  std::snprintf(options.data(), options.size(), "mode=0755,size=4096,nr_inodes=%zu", inodes);
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  return ::mount("sandbox", kStage, "tmpfs", kFlags, options.data()) == 0 ? 0 : errno;
}

// pivot_root(".", ".") stacks the old root on the new one; unmounting "." then takes the old one
// away.
int swap_roots() {
  if (::syscall(SYS_pivot_root, ".", ".") != 0) return errno;
  if (::umount2(".", MNT_DETACH) != 0) return errno;
  mount_attr read_only{};
  read_only.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
  if (::mount_setattr(AT_FDCWD, "/", 0, &read_only, sizeof read_only) != 0) return errno;
  return ::chdir("/") == 0 ? 0 : errno;
}

}  // namespace

int enter_own_root(const Plan& plan, std::uint16_t& item) {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return errno;
  // All are picked up before the stage covers anything.
  std::array<Trees, kMostMounts> trees{};
  for (std::size_t i = 0; i < plan.mounts.size(); ++i) {
    item = static_cast<std::uint16_t>(i);
    if (const int error = pick_up_all(plan.mounts[i], plan.id_map, trees[i])) return error;
  }
  item = 0xffff;
  if (const int error = make_stage(plan)) return error;
  const int root = ::open(kStage, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0 || ::fchdir(root) != 0) return errno;
  Stage stage{.root = root};
  struct stat info {};
  if (::fstat(root, &info) != 0) return errno;
  stage.device = info.st_dev;
  for (std::size_t i = 0; i < plan.mounts.size(); ++i) {
    item = static_cast<std::uint16_t>(i);
    if (const int error = put_down(stage, plan, plan.mounts[i], trees[i])) return error;
  }
  item = 0xffff;
  // Names of the folders that lead to the mounts are no secret to a server, and programs list them.
  if (plan.admits.has<Serves>()) {
    PlannedMount folders;
    folders.kind = Mount::Kind::kFolder;
    if (const int error = allow_in_landlock(plan, folders, root)) return error;
  }
  return swap_roots();
}

int enter_empty_root() {
  // A container may have a read-only /tmp.
  std::array<std::array<char, 40>, 4> names{{{"/tmp/mcpac-empty-XXXXXX"},
                                             {"/dev/shm/mcpac-empty-XXXXXX"},
                                             {"/run/mcpac-empty-XXXXXX"},
                                             {"/var/tmp/mcpac-empty-XXXXXX"}}};
  const auto made =
      std::ranges::find_if(names, [](auto& name) { return ::mkdtemp(name.data()) != nullptr; });
  if (made == names.end()) return errno;
  auto& name = *made;
  const int folder = ::open(name.data(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  const int error = folder < 0 ? errno : 0;
  if (::rmdir(name.data()) != 0) return errno;
  if (error != 0) return error;
  if (::fchdir(folder) != 0 || ::chroot(".") != 0) return errno;
  return ::chdir("/") == 0 ? 0 : errno;
}

}  // namespace mcpac::sandbox
