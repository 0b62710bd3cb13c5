// SPDX-License-Identifier: Apache-2.0

#include "sandbox/name_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/folded_name.h"
#include "core/repository.h"
#include "sandbox/capabilities.h"
#include "sandbox/child_memory.h"
#include "sandbox/descriptors.h"
#include "sandbox/landlock.h"
#include "sandbox/listener.h"
#include "sandbox/packet.h"
#include "sandbox/process.h"
#include "sandbox/rlimits.h"
#include "sandbox/seccomp_rules.h"

namespace mcpac::sandbox {
namespace {

// A guard that cannot be made in this time is none; the program waits in its first such call.
constexpr int kMostMillisecondsToStart = 5000;

using Arguments = std::uint64_t[6];

constexpr std::int64_t kIdle = 0;

std::int64_t now_in_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

using Bytes = std::string_view;

bool say(int socket, const GuardWord& word) {
  return send_packet(socket, Bytes(reinterpret_cast<const char*>(&word), sizeof word), {}) == 0;
}

// ---- What a call names

struct Name {
  UniqueFd folder;    // that it lies in; O_PATH
  std::string text;   // the last component, without a slash behind it
  std::string slash;  // "/" where there was one
  [[nodiscard]] std::string written() const { return text + slash; }
};

// An errno, 0, or the descriptor that the program is given.
struct Done {
  int error = 0;
  UniqueFd descriptor{};
};

class Guard {
 public:
  Guard(const Plan& plan, pid_t program, int listener, int socket,
        std::atomic<std::int64_t>& busy_since)
      : plan_(plan),
        listener_(listener),
        socket_(socket),
        busy_since_(busy_since),
        memory_(program) {
    for (const std::string& name : plan.kept_names) {
      const bool open_end = name.ends_with('*');
      names_.push_back(folded(open_end ? std::string_view(name).substr(0, name.size() - 1)
                                       : std::string_view(name)) +
                       (open_end ? "*" : ""));
    }
  }

  // Into the program's sandbox; 0 or errno.
  int enter();
  void serve();

 private:
  void answer(const seccomp_notif& call);
  [[nodiscard]] Done do_it(const seccomp_notif& call);
  [[nodiscard]] Done open(int at, std::uint64_t path, int flags, mode_t mode);
  [[nodiscard]] Done open_existing(const Name& name, int flags);
  [[nodiscard]] int make_folder(int at, std::uint64_t path, mode_t mode);
  [[nodiscard]] int rename(int from_at, std::uint64_t from, int to_at, std::uint64_t to,
                           unsigned flags);
  [[nodiscard]] int remove(int at, std::uint64_t path, int flags);
  [[nodiscard]] int truncate(std::uint64_t path, off_t size);

  [[nodiscard]] std::expected<std::string, int> read_path(std::uint64_t address) const;
  [[nodiscard]] std::expected<Name, int> resolve(int at, const std::string& path);
  [[nodiscard]] std::string place_of(int fd) const;
  // 0, or why it must stay as it is.
  [[nodiscard]] int refuse_kept(const Name& name);
  [[nodiscard]] bool is_kept(std::string_view path) const;
  [[nodiscard]] bool lies_in_kept_place(std::string_view path) const;
  [[nodiscard]] bool stays(const Name& name) const;
  // Before a name is made: held until it is. errno where it would make a repository.
  [[nodiscard]] std::expected<UniqueFd, int> turn_for(const Name& name);
  void say_refused(const std::string& path);
  void take_umask() const;

  const Plan& plan_;
  int listener_;
  int socket_;
  std::atomic<std::int64_t>& busy_since_;
  std::vector<std::string> names_;
  std::vector<FileIdentity> unmoved_;
  ChildMemory memory_;        // of the program
  UniqueFd status_;           // of the program
  UniqueFd own_descriptors_;  // /proc/self/fd
  seccomp_notif call_{};
};

// Allows the system calls of a guard, and no more: it reads what a hostile program wrote.
int enter_own_filter() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 0;
#else
  constexpr int kCalls[] = {SCMP_SYS(ioctl),        SCMP_SYS(pread64),    SCMP_SYS(poll),
                            SCMP_SYS(ppoll),        SCMP_SYS(open),       SCMP_SYS(openat),
                            SCMP_SYS(mkdirat),      SCMP_SYS(renameat2),  SCMP_SYS(renameat),
                            SCMP_SYS(unlinkat),     SCMP_SYS(ftruncate),  SCMP_SYS(newfstatat),
                            SCMP_SYS(readlinkat),   SCMP_SYS(fstat),      SCMP_SYS(close),
                            SCMP_SYS(umask),        SCMP_SYS(sendmsg),    SCMP_SYS(recvmsg),
                            SCMP_SYS(brk),          SCMP_SYS(mmap),       SCMP_SYS(munmap),
                            SCMP_SYS(mremap),       SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn),
                            SCMP_SYS(flock),        SCMP_SYS(fcntl),      SCMP_SYS(clock_nanosleep),
                            SCMP_SYS(clock_gettime)};
  scmp_filter_ctx const context = seccomp_init(SCMP_ACT_KILL_PROCESS);
  if (context == nullptr) return ENOMEM;
  int error = seccomp_attr_set(context, SCMP_FLTATR_CTL_NNP, 0);
  for (const int call : kCalls) {
    if (error == 0) error = seccomp_rule_add_exact(context, SCMP_ACT_ALLOW, call, 0);
  }
  if (error == 0) error = seccomp_load(context);
  seccomp_release(context);
  return -error;
#endif
}

// A kernel before 5.14 cannot answer a call with a descriptor at once; one that can says that there
// is no such call.
int can_answer(int listener) {
  seccomp_notif_addfd probe{};
  probe.flags = SECCOMP_ADDFD_FLAG_SEND;
  probe.srcfd = static_cast<std::uint32_t>(listener);
  return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &probe) == 0 || errno == ENOENT ? 0 : ENOSYS;
}

int Guard::enter() {
  if (const int error = can_answer(listener_)) return error;
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
  status_ = memory_.open("status");
  own_descriptors_ = UniqueFd(::open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!status_ || !own_descriptors_) return errno;
  if (const UniqueFd readable = memory_.open("mem"); !readable) return errno;
  UniqueFd users;
  UniqueFd mounts;
  const bool has_users = plan_.identity == Identity::kUserNamespace;
  if (has_users) {
    users = memory_.open("ns/user");
    if (!users) return errno;
  }
  mounts = memory_.open("ns/mnt");
  if (!mounts) return errno;
  auto kept = memory_.descriptors();
  kept.insert(kept.end(), {listener_, socket_, status_.get(), own_descriptors_.get(), users.get(),
                           mounts.get(), plan_.ruleset.get()});
  close_all_but(std::move(kept));
  memory_.close_all_but_memory();
  if (has_users && ::setns(users.get(), CLONE_NEWUSER) != 0) return errno;
  if (::setns(mounts.get(), CLONE_NEWNS) != 0) return errno;
  users.reset();
  mounts.reset();
  if (::chdir(plan_.work_directory.c_str()) != 0) return errno;
  for (const PlannedMount& mount : plan_.mounts) {
    for (std::size_t at = mount.inside.find('/'); at != std::string::npos;
         at = mount.inside.find('/', at + 1)) {
      struct stat info {};
      const std::string folder = "/" + mount.inside.substr(0, at);
      if (::lstat(folder.c_str(), &info) != 0) return errno;
      unmoved_.push_back({.device = info.st_dev, .inode = info.st_ino});
    }
  }
  unmoved_.insert(unmoved_.end(), plan_.kept_folders.begin(), plan_.kept_folders.end());
  const rlimit none{1, 1};
  ::setrlimit(RLIMIT_CORE, &none);
  // It empties and lengthens files for the program, which is told EFBIG.
  if (::signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return errno;
  if (const int error = limit_file_size(plan_)) return error;
  if (const int error = drop_privileges(plan_)) return error;
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
  if (plan_.ruleset) {
    if (const int error = enter_ruleset(plan_.ruleset.get())) return error;
    ::close(plan_.ruleset.get());
  }
  return enter_own_filter();
}

void Guard::serve() {
  for (;;) {
    call_ = {};
    if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, &call_) != 0) {
      if (errno != EINTR && errno != ENOENT) return;
      // Interrupted before it was taken, and then made again; or no thread is left that could call.
      if (has_hung_up(listener_)) return;
      continue;
    }
    if (names_a_file(call_.data.nr)) {
      busy_since_ = now_in_seconds();
      answer(call_);
      busy_since_ = kIdle;
      continue;
    }
    GuardWord word;
    word.kind = GuardWord::Kind::kForbidden;
    word.call = call_;
    if (!say(socket_, word)) return;
  }
}

void Guard::answer(const seccomp_notif& call) {
  Done done = do_it(call);
  if (done.descriptor) {
    seccomp_notif_addfd given{};
    given.id = call.id;
    given.flags = SECCOMP_ADDFD_FLAG_SEND;
    given.srcfd = static_cast<std::uint32_t>(done.descriptor.get());
    const int open_flags = call.data.nr == SYS_open ? static_cast<int>(call.data.args[1])
                                                    : static_cast<int>(call.data.args[2]);
    given.newfd_flags = static_cast<std::uint32_t>(open_flags & O_CLOEXEC);
    if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &given) >= 0) return;
    done.error = errno;
  }
  seccomp_notif_resp reply{};
  reply.id = call.id;
  reply.error = -done.error;
  // ENOENT: it was killed meanwhile.
  if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &reply) != 0) errno = 0;
}

Done Guard::do_it(const seccomp_notif& call) {
  const auto& a = call.data.args;
  const auto number = [&a](std::size_t i) { return static_cast<int>(a[i]); };
  const auto mode = [&a](std::size_t i) { return static_cast<mode_t>(a[i] & 07777U); };
  switch (call.data.nr) {
    case SYS_open: return open(AT_FDCWD, a[0], number(1), mode(2));
    case SYS_openat: return open(number(0), a[1], number(2), mode(3));
    case SYS_mkdir: return {make_folder(AT_FDCWD, a[0], mode(1))};
    case SYS_mkdirat: return {make_folder(number(0), a[1], mode(2))};
    case SYS_rename: return {rename(AT_FDCWD, a[0], AT_FDCWD, a[1], 0)};
    case SYS_renameat: return {rename(number(0), a[1], number(2), a[3], 0)};
    case SYS_renameat2:
      return {rename(number(0), a[1], number(2), a[3], static_cast<unsigned>(a[4]))};
    case SYS_unlink: return {remove(AT_FDCWD, a[0], 0)};
    case SYS_rmdir: return {remove(AT_FDCWD, a[0], AT_REMOVEDIR)};
    case SYS_unlinkat: return {remove(number(0), a[1], number(2))};
    case SYS_truncate: return {truncate(a[0], static_cast<off_t>(a[1]))};
    default: return {ENOSYS};
  }
}

// Copied once: what another thread writes there later is not read.
std::expected<std::string, int> Guard::read_path(std::uint64_t address) const {
  std::array<char, PATH_MAX> text{};
  const std::string_view read(text.data(), memory_.read(address, text));
  if (read.empty()) return std::unexpected(EFAULT);
  const auto end = read.find('\0');
  if (end == std::string_view::npos)
    return std::unexpected(read.size() == text.size() ? ENAMETOOLONG : EFAULT);
  if (end == 0) return std::unexpected(ENOENT);
  return std::string(read.substr(0, end));
}

std::expected<Name, int> Guard::resolve(int at, const std::string& path) {
  UniqueFd base;
  if (at != AT_FDCWD && !path.starts_with('/')) {
    if (at < 0) return std::unexpected(EBADF);
    GuardWord word;
    word.kind = GuardWord::Kind::kDescriptor;
    word.thread = static_cast<std::int32_t>(call_.pid);
    word.number = at;
    if (!say(socket_, word)) ::_exit(0);
    auto got = receive_packet(socket_, sizeof(std::int32_t));
    if (!got || got->bytes.size() != sizeof(std::int32_t)) ::_exit(0);  // the warden has gone
    std::int32_t error = 0;
    std::memcpy(&error, got->bytes.data(), sizeof error);
    if (got->descriptors.size() != 1) return std::unexpected(error != 0 ? error : EMFILE);
    base = std::move(got->descriptors.front());
    if (!still_there(listener_, call_.id)) return std::unexpected(EINTR);
  }
  std::string_view text = path;
  Name name;
  while (text.ends_with('/')) {
    name.slash = "/";
    text.remove_suffix(1);
  }
  const auto slash = text.rfind('/');
  name.text = text.substr(slash == std::string_view::npos ? 0 : slash + 1);
  std::string folder =
      slash == std::string_view::npos ? "." : std::string(text.substr(0, slash + 1));
  if (text.empty()) folder = "/";
  name.folder = UniqueFd(
      ::openat(base ? base.get() : AT_FDCWD, folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!name.folder) return std::unexpected(errno);
  return name;
}

// Where it lies in the program's root, by the kernel's word; "" where that is too long to be said.
std::string Guard::place_of(int fd) const {
  std::array<char, PATH_MAX> text{};
  const ssize_t size =
      ::readlinkat(own_descriptors_.get(), std::to_string(fd).c_str(), text.data(), text.size());
  const bool whole = size > 0 && static_cast<std::size_t>(size) < text.size();
  return whole ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

bool Guard::is_kept(std::string_view path) const {
  while (!path.empty()) {
    const auto slash = path.find('/');
    if (is_one_of(path.substr(0, slash), names_)) return true;
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
  return false;
}

// Places are told as they lie in the program's root, without links and dots, as place_of() tells.
bool lies_in(std::string_view path, std::string_view place) {
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

bool Guard::lies_in_kept_place(std::string_view path) const {
  return std::ranges::any_of(plan_.kept_places,
                             [path](const std::string& place) { return lies_in(path, place); });
}

void Guard::say_refused(const std::string& path) {
  GuardWord word;
  word.kind = GuardWord::Kind::kRefused;
  std::copy_n(path.begin(), std::min(path.size(), word.path.size() - 1), word.path.begin());
  if (!say(socket_, word)) ::_exit(0);
}

std::string below(const std::string& folder, std::string_view name) {
  return (folder == "/" ? "" : folder) + "/" + std::string(name);
}

int Guard::refuse_kept(const Name& name) {
  const std::string place = place_of(name.folder.get());
  if (!place.starts_with('/')) return ENAMETOOLONG;
  const std::string path = below(place, name.text);
  if (!is_kept(place) && !is_one_of(name.text, names_) && !lies_in_kept_place(path)) return 0;
  say_refused(path);
  return EACCES;
}

// Also of another run's program, or of changes that are applied: they look in turns.
std::expected<UniqueFd, int> Guard::turn_for(const Name& name) {
  if (!is_repository_part(name.text)) return UniqueFd();
  auto turn = take_repository_turn(name.folder.get());
  if (!turn || !completes_repository(turn->get(), name.text, NamesCompared::kAsWritten))
    return turn;
  say_refused(below(place_of(name.folder.get()), name.text));
  return std::unexpected(EACCES);
}

// A mount point cannot be renamed, by the kernel; the folders above it, and above what has a kept
// name, could be moved away with it. One that is moved to where a kept place lies below would bring
// what lies in it.
bool Guard::stays(const Name& name) const {
  const std::string path = below(place_of(name.folder.get()), name.text);
  if (std::ranges::any_of(plan_.kept_places,
                          [&path](const std::string& place) { return lies_in(place, path); }))
    return true;
  struct stat info {};
  if (::fstatat(name.folder.get(), name.text.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  return std::ranges::find(unmoved_, FileIdentity{.device = info.st_dev, .inode = info.st_ino}) !=
         unmoved_.end();
}

void Guard::take_umask() const {
  constexpr std::string_view kLine = "\nUmask:\t";
  std::array<char, 512> text{};
  const ssize_t size = ::pread(status_.get(), text.data(), text.size(), 0);
  mode_t mask = plan_.new_file_mask;
  const std::string_view status(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  if (const auto at = status.find(kLine); at != std::string_view::npos) {
    unsigned read = 0;
    const char* const begin = status.data() + at + kLine.size();
    if (std::from_chars(begin, status.data() + status.size(), read, 8).ec == std::errc())
      mask = static_cast<mode_t>(read);
  }
  ::umask(mask);
}

bool is_dots(std::string_view name) {
  return name.empty() || name == "." || name == "..";
}

constexpr mode_t kSpecialBits = 06000;

// Never waits for another process: one guard serves all threads of the program, and the other end
// of a pipe could be one of them. A pipe without a reader is ENXIO, and a leased file EAGAIN.
Done open_at(int folder, const std::string& name, int flags, mode_t mode) {
  UniqueFd made(
      ::openat(folder, name.c_str(), flags | O_NONBLOCK | O_CLOEXEC, static_cast<unsigned>(mode)));
  if (!made) return {errno};
  if ((flags & O_NONBLOCK) == 0) {
    const int now = ::fcntl(made.get(), F_GETFL);
    if (now < 0 || ::fcntl(made.get(), F_SETFL, now & ~O_NONBLOCK) != 0) return {errno};
  }
  return {0, std::move(made)};
}

Done Guard::open(int at, std::uint64_t address, int flags, mode_t mode) {
  const bool makes = (flags & O_CREAT) != 0;
  const bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
  if ((makes || nameless) && (mode & kSpecialBits) != 0) return {EPERM};
  const auto path = read_path(address);
  if (!path) return {path.error()};
  auto name = resolve(at, *path);
  if (!name) return {name.error()};
  if (is_dots(name->text)) {
    if (!nameless) return {EISDIR};
  } else if (const int error = refuse_kept(*name)) {
    return {error};
  }
  if (makes && !name->slash.empty()) return {EISDIR};
  const auto turn = makes ? turn_for(*name) : UniqueFd();
  if (!turn) return {turn.error()};
  if (makes || nameless) take_umask();
  const std::string written = name->text.empty() ? "." : name->written();
  Done made = open_at(name->folder.get(), written, flags | O_NOFOLLOW, mode);
  const bool is_link = made.error == ELOOP && (flags & O_NOFOLLOW) == 0;
  return is_link ? open_existing(*name, flags) : std::move(made);
}

// Through a link of another process, as programs make none: what it leads to is there, and is
// held like what is named itself.
Done Guard::open_existing(const Name& name, int flags) {
  const UniqueFd target(::openat(name.folder.get(), name.text.c_str(), O_PATH | O_CLOEXEC));
  if (!target) return {errno == ENOENT && (flags & O_CREAT) != 0 ? EACCES : errno};
  const std::string place = place_of(target.get());
  if (!place.starts_with('/')) return {EACCES};
  if (is_kept(place) || lies_in_kept_place(place)) {
    say_refused(place);
    return {EACCES};
  }
  return open_at(own_descriptors_.get(), std::to_string(target.get()), flags & ~(O_CREAT | O_EXCL),
                 0);
}

int Guard::make_folder(int at, std::uint64_t address, mode_t mode) {
  if ((mode & kSpecialBits) != 0) return EPERM;
  const auto path = read_path(address);
  if (!path) return path.error();
  const auto name = resolve(at, *path);
  if (!name) return name.error();
  if (is_dots(name->text)) return EEXIST;
  if (const int error = refuse_kept(*name)) return error;
  const auto turn = turn_for(*name);
  if (!turn) return turn.error();
  take_umask();
  return ::mkdirat(name->folder.get(), name->written().c_str(), mode) == 0 ? 0 : errno;
}

int Guard::rename(int from_at, std::uint64_t from_address, int to_at, std::uint64_t to_address,
                  unsigned flags) {
  // RENAME_WHITEOUT makes a device, as every user may, and Landlock is not asked.
  if ((flags & ~unsigned{RENAME_NOREPLACE | RENAME_EXCHANGE}) != 0) return EINVAL;
  const auto from_path = read_path(from_address);
  if (!from_path) return from_path.error();
  const auto to_path = read_path(to_address);
  if (!to_path) return to_path.error();
  const auto from = resolve(from_at, *from_path);
  if (!from) return from.error();
  const auto to = resolve(to_at, *to_path);
  if (!to) return to.error();
  if (is_dots(from->text) || is_dots(to->text)) return EBUSY;
  for (const Name* name : {&*from, &*to}) {
    if (const int error = refuse_kept(*name)) return error;
    if (stays(*name)) return EBUSY;
  }
  // What is exchanged has its name already, and the other gets none that is new there.
  const auto turn = turn_for(*to);
  if (!turn) return turn.error();
  const long done = ::syscall(SYS_renameat2, from->folder.get(), from->written().c_str(),
                              to->folder.get(), to->written().c_str(), flags);
  return done == 0 ? 0 : errno;
}

int Guard::remove(int at, std::uint64_t address, int flags) {
  if ((flags & ~AT_REMOVEDIR) != 0) return EINVAL;
  const auto path = read_path(address);
  if (!path) return path.error();
  const auto name = resolve(at, *path);
  if (!name) return name.error();
  if (is_dots(name->text)) return flags == 0 ? EISDIR : EINVAL;
  if (const int error = refuse_kept(*name)) return error;
  return ::unlinkat(name->folder.get(), name->written().c_str(), flags) == 0 ? 0 : errno;
}

int Guard::truncate(std::uint64_t address, off_t size) {
  Done opened = open(AT_FDCWD, address, O_WRONLY | O_NONBLOCK, 0);
  if (!opened.descriptor) return opened.error;
  return ::ftruncate(opened.descriptor.get(), size) == 0 ? 0 : errno;
}

SharedTime make_shared_time() {
  void* const memory = ::mmap(nullptr, sizeof(std::atomic<std::int64_t>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return SharedTime(memory == MAP_FAILED ? nullptr
                                         : ::new (memory) std::atomic<std::int64_t>(kIdle));
}

}  // namespace

void UnmapTime::operator()(std::atomic<std::int64_t>* time) const {
  ::munmap(time, sizeof *time);
}

std::expected<NameGuard, int> NameGuard::start(const Plan& plan, pid_t program, int listener) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return std::unexpected(errno);
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  SharedTime busy = make_shared_time();
  if (!busy) return std::unexpected(ENOMEM);
  const pid_t pid = ::fork();
  if (pid < 0) return std::unexpected(errno);
  if (pid == 0) {
    Guard guard(plan, program, listener, theirs.get(), *busy);
    GuardWord word;
    word.kind = GuardWord::Kind::kReady;
    word.error = guard.enter();
    if (say(theirs.get(), word) && word.error == 0) guard.serve();
    ::_exit(0);
  }
  NameGuard guard(pid, std::move(ours), std::move(busy));
  theirs.reset();
  // A guard that was taken over does not keep the warden waiting.
  if (::fcntl(guard.socket(), F_SETFL, O_NONBLOCK) != 0) return std::unexpected(errno);
  pollfd ready{guard.socket(), POLLIN, 0};
  int count = 0;
  do {
    count = ::poll(&ready, 1, kMostMillisecondsToStart);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return std::unexpected(ETIMEDOUT);
  const GuardWord word = guard.hear();
  if (word.kind != GuardWord::Kind::kReady) return std::unexpected(EIO);
  if (word.error != 0) return std::unexpected(word.error);
  return guard;
}

NameGuard::NameGuard(NameGuard&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      socket_(std::move(other.socket_)),
      busy_since_(std::move(other.busy_since_)) {}

// The one that is overwritten ends with `ending`.
NameGuard& NameGuard::operator=(NameGuard&& other) noexcept {
  if (this != &other) {
    const NameGuard ending(pid_, std::move(socket_), std::move(busy_since_));
    pid_ = std::exchange(other.pid_, -1);
    socket_ = std::move(other.socket_);
    busy_since_ = std::move(other.busy_since_);
  }
  return *this;
}

// What waits where no signal ends the wait is left behind; it makes no further call.
NameGuard::~NameGuard() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  constexpr int kMostWaits = 200;
  constexpr timespec kMoment{.tv_sec = 0, .tv_nsec = 1'000'000};
  for (int i = 0; i < kMostWaits; ++i) {
    if (::waitpid(pid_, nullptr, WNOHANG) != 0) return;
    ::nanosleep(&kMoment, nullptr);
  }
  give_up(pid_);
}

bool NameGuard::is_out_of_patience() const {
  const std::int64_t since = *busy_since_;
  return since != kIdle && now_in_seconds() - since > kGuardPatience;
}

GuardWord NameGuard::hear() const {
  GuardWord word;
  const auto packet = receive_packet(socket_.get(), sizeof word);
  if (!packet || packet->bytes.size() != sizeof word) return {};
  std::memcpy(&word, packet->bytes.data(), sizeof word);
  word.path.back() = '\0';
  return word;
}

void NameGuard::answer_descriptor(const GuardWord& asked) const {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/fd/%d", asked.thread, asked.number);
  const UniqueFd folder(::open(path.data(), O_PATH | O_CLOEXEC));
  const std::int32_t error = folder ? 0 : errno == ENOENT ? EBADF : errno;
  const std::array<int, 1> given{folder.get()};
  const auto descriptors = std::span(given).first(folder ? 1 : 0);
  const Bytes bytes(reinterpret_cast<const char*>(&error), sizeof error);
  // A guard that has gone needs no answer.
  if (send_packet(socket_.get(), bytes, descriptors) != 0) errno = 0;
}

}  // namespace mcpac::sandbox
