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

// A root warden's child is nobody's owner; an id-mapped mount shows it root's files as its own, so
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
  Mount::Access access;
};

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
  restrict.attr_set = attributes_of(origin.access);
  restrict.propagation = MS_PRIVATE;
  return ::mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, & restrict, sizeof restrict) == 0
             ? 0
             : errno;
}

// What one mount is made of: one tree, or for an overlay two.
struct Trees {
  int place = -1;
  int changes = -1;
};

int pick_up_all(const PlannedMount& mount, int id_map, Trees& trees) {
  const bool overlay = !mount.changes.empty();
  const Origin place{mount.host.c_str(), mount.device, mount.inode,
                     overlay ? Mount::Access::kRead : mount.access};
  if (const int error = pick_up(place, id_map, trees.place)) return error;
  if (!overlay) return 0;
  const Origin changes{mount.changes.c_str(), mount.changes_device, mount.changes_inode,
                       Mount::Access::kReadWrite};
  return pick_up(changes, id_map, trees.changes);
}

bool lies_in_stage(int root, int folder) {
  struct stat stage {};
  struct stat here {};
  return ::fstat(root, &stage) == 0 && ::fstat(folder, &here) == 0 && stage.st_dev == here.st_dev;
}

// A mount point below a mount must be there: nothing is made in what belongs to the host.
int make_point(int root, int folder, const char* name, bool file) {
  if (!lies_in_stage(root, folder)) return 0;
  if (!file) return ::mkdirat(folder, name, 0755) == 0 || errno == EEXIST ? 0 : errno;
  const UniqueFd made(::openat(folder, name, O_CREAT | O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0444));
  return made ? 0 : errno;
}

// Folder by folder and never through a symbolic link: part of the way may lie in a mount made
// before, whose content is not ours.
int make_mount_point(int root, const PlannedMount& mount, UniqueFd& point) {
  UniqueFd folder(::fcntl(root, F_DUPFD_CLOEXEC, 4));
  std::string_view rest = mount.inside;
  std::array<char, NAME_MAX + 1> name{};
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(part.size() == rest.size() ? part.size() : part.size() + 1);
    if (part.size() > NAME_MAX) return ENAMETOOLONG;
    std::memcpy(name.data(), part.data(), part.size());
    name[part.size()] = '\0';
    const bool file = rest.empty() && !mount.directory;
    if (const int error = make_point(root, folder.get(), name.data(), file)) return error;
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
  // Whoever mounts an overlay is who works on its layers; id-mapped ones know the child's id alone.
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

int put_down(int root, const Plan& plan, const PlannedMount& mount, const Trees& trees) {
  UniqueFd point;
  if (const int error = make_mount_point(root, mount, point)) return error;
  if (mount.changes.empty()) return attach(trees.place, point.get());
  if (const int error = make_overlay(root, plan, trees, point.get())) return error;
  UniqueFd merged;
  if (const int error = make_mount_point(root, mount, merged)) return error;
  // A kernel that cannot write to the layers makes an overlay for reading, and says so nowhere
  // else.
  struct statfs made {};
  if (::fstatfs(merged.get(), &made) != 0) return errno;
  if ((made.f_flags & ST_RDONLY) != 0) return EROFS;
  if (!plan.ruleset) return 0;
  return allow_overlay(plan.ruleset.get(), merged.get(), plan.landlock_abi);
}

// The inodes of the stage are counted, so that nothing but the mount points fits into it.
int make_stage(const Plan& plan) {
  std::size_t inodes = 2;
  for (const PlannedMount& mount : plan.mounts) {
    inodes += mount.changes.empty() ? 1 : 3;  // with its layers
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
  for (std::size_t i = 0; i < plan.mounts.size(); ++i) {
    item = static_cast<std::uint16_t>(i);
    if (const int error = put_down(root, plan, plan.mounts[i], trees[i])) return error;
  }
  item = 0xffff;
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
