// SPDX-License-Identifier: Apache-2.0

#include "sandbox/observe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "core/file.h"
#include "sandbox/listener.h"
#include "sandbox/packet.h"

namespace mcpac::sandbox {
namespace {

namespace fs = std::filesystem;

// Of the headers that we build with some are older than the kernels that we run on.
constexpr int kObservedFaccessat2 = 439;
constexpr int kObservedFchmodat2 = 452;
constexpr int kObservedOpenat2 = 437;
constexpr int kIoUringSetup = 425;
constexpr int kNoFolder = -1;

// A call that names places: which arguments they are, and what it does to each.
struct PathCall {
  int call;
  int folder;  // the argument that is the folder of a relative path, or kNoFolder
  int path;
  std::uint16_t use;
  int other_folder = kNoFolder;
  int other_path = -1;
  std::uint16_t other_use = 0;
};

// An open says in its flags what it does, a call that makes something does it where nothing was:
// those are seen to below.
constexpr PathCall kPathCalls[] = {
    {SYS_open, kNoFolder, 0, kRead},
    {SYS_creat, kNoFolder, 0, kWritten},
    {SYS_openat, 0, 1, kRead},
    {kObservedOpenat2, 0, 1, kRead},
    {SYS_stat, kNoFolder, 0, kLooked},
    {SYS_lstat, kNoFolder, 0, kLooked},
    {SYS_access, kNoFolder, 0, kLooked},
    {SYS_readlink, kNoFolder, 0, kLooked},
    {SYS_statfs, kNoFolder, 0, kLooked},
    {SYS_chdir, kNoFolder, 0, kLooked},
    {SYS_newfstatat, 0, 1, kLooked},
    {SYS_statx, 0, 1, kLooked},
    {SYS_faccessat, 0, 1, kLooked},
    {kObservedFaccessat2, 0, 1, kLooked},
    {SYS_readlinkat, 0, 1, kLooked},
    {SYS_inotify_add_watch, kNoFolder, 1, kRead},
    {SYS_mkdir, kNoFolder, 0, kCreated | kEnsured},
    {SYS_mkdirat, 0, 1, kCreated | kEnsured},
    {SYS_mknod, kNoFolder, 0, kCreated},
    {SYS_mknodat, 0, 1, kCreated},
    {SYS_symlink, kNoFolder, 1, kCreated},
    {SYS_symlinkat, 1, 2, kCreated},
    {SYS_rmdir, kNoFolder, 0, kRemoved},
    {SYS_unlink, kNoFolder, 0, kRemoved},
    {SYS_unlinkat, 0, 1, kRemoved},
    {SYS_rename, kNoFolder, 0, kRemoved, kNoFolder, 1, kReplaced},
    {SYS_renameat, 0, 1, kRemoved, 2, 3, kReplaced},
    {SYS_renameat2, 0, 1, kRemoved, 2, 3, kReplaced},
    {SYS_link, kNoFolder, 0, kRead, kNoFolder, 1, kCreated},
    {SYS_linkat, 0, 1, kRead, 2, 3, kCreated},
    {SYS_truncate, kNoFolder, 0, kWritten},
    {SYS_chmod, kNoFolder, 0, kWritten},
    {SYS_fchmodat, 0, 1, kWritten},
    {kObservedFchmodat2, 0, 1, kWritten},
    {SYS_chown, kNoFolder, 0, kWritten},
    {SYS_lchown, kNoFolder, 0, kWritten},
    {SYS_fchownat, 0, 1, kWritten},
    {SYS_utime, kNoFolder, 0, kWritten},
    {SYS_utimes, kNoFolder, 0, kWritten},
    {SYS_utimensat, 0, 1, kWritten},
    {SYS_futimesat, 0, 1, kWritten},
    {SYS_execve, kNoFolder, 0, kExecuted},
    {SYS_execveat, 0, 1, kExecuted},
};

constexpr int kSocketCalls[] = {SYS_connect, SYS_sendto, SYS_sendmmsg};

constexpr std::uint32_t kChanges = kWritten | kCreated | kRemoved | kReplaced;

const PathCall* path_call(int number) {
  const auto* found = std::ranges::find(kPathCalls, number, &PathCall::call);
  return found == std::end(kPathCalls) ? nullptr : found;
}

// ---- What the program has in its memory, read piece by piece: a page that is not there ends it.

constexpr std::size_t kPage = 4096;

std::size_t read_memory(pid_t thread, std::uint64_t address, std::span<char> into) {
  std::size_t size = 0;
  while (size < into.size()) {
    const std::uint64_t at = address + size;
    const std::size_t piece = std::min(into.size() - size, kPage - at % kPage);
    iovec ours{into.data() + size, piece};
    iovec theirs{reinterpret_cast<void*>(at), piece};
    const ssize_t got = ::process_vm_readv(thread, &ours, 1, &theirs, 1, 0);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) < piece) break;
  }
  return size;
}

std::optional<std::string> read_string(pid_t thread, std::uint64_t address) {
  std::string text;
  std::array<char, kPage> piece{};
  while (address != 0 && text.size() < PATH_MAX) {
    const std::uint64_t at = address + text.size();
    const std::size_t size = read_memory(thread, at, std::span(piece).first(kPage - at % kPage));
    if (size == 0) return std::nullopt;
    const auto end = std::find(piece.data(), piece.data() + size, '\0');
    text.append(piece.data(), end);
    if (end != piece.data() + size) return text;
  }
  return std::nullopt;
}

template <class T>
std::optional<T> read_value(pid_t thread, std::uint64_t address) {
  T value{};
  if (address == 0) return std::nullopt;
  const std::span<char> bytes(reinterpret_cast<char*>(&value), sizeof value);
  if (read_memory(thread, address, bytes) != sizeof value) return std::nullopt;
  return value;
}

std::string link_of(pid_t thread, const std::string& name) {
  std::array<char, PATH_MAX> text{};
  const std::string link = "/proc/" + std::to_string(thread) + "/" + name;
  const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

// The name that a DNS question asks for; empty: it is none.
std::string question_of(std::string_view packet) {
  constexpr std::size_t kHeader = 12;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(packet[at]); };
  if (packet.size() < kHeader + 5 || packet.size() > 1024) return {};
  const bool is_question = (byte(2) & 0xf8U) == 0;  // and its code is a plain query
  if (!is_question || byte(4) != 0 || byte(5) != 1 || byte(6) != 0 || byte(7) != 0) return {};
  std::string name;
  std::size_t at = kHeader;
  while (at < packet.size() && byte(at) != 0) {
    const std::size_t length = byte(at);
    if (length > 63 || at + 1 + length >= packet.size()) return {};
    for (const char letter : packet.substr(at + 1, length)) {
      const bool fits = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                        (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
      if (!fits) return {};
      name += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    name += '.';
    at += 1 + length;
  }
  if (at + 5 > packet.size() || name.size() < 2 || name.size() > 254) return {};
  const unsigned kind = byte(at + 1) * 256U + byte(at + 2);
  const bool is_address = kind == 1 || kind == 28;  // A, AAAA
  if (!is_address || byte(at + 3) != 0 || byte(at + 4) != 1) return {};
  name.pop_back();
  return name;
}

// ---- The filter

void answer_if(std::vector<sock_filter>& filter, int call, std::uint32_t answer) {
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, answer));
}

// Asked of a descriptor, as libc does all the time: no place is named.
void answer_unless_bits(std::vector<sock_filter>& filter, int call, unsigned argument,
                        std::uint32_t bits) {
  const std::uint32_t at = offsetof(seccomp_data, args) + argument * 8;
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4));
  filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
}

// The message with the listener itself passes.
void answer_unless_ours(std::vector<sock_filter>& filter, int call) {
  const std::uint32_t at = offsetof(seccomp_data, args);
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4));
  filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kObserverDescriptor, 0, 1));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF));
}

}  // namespace

std::vector<sock_filter> observing_filter() {
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  answer_unless_bits(filter, SYS_newfstatat, 3, AT_EMPTY_PATH);
  answer_unless_bits(filter, SYS_statx, 2, AT_EMPTY_PATH);
  answer_unless_ours(filter, SYS_sendmsg);
  answer_if(filter, kIoUringSetup, SECCOMP_RET_ERRNO | ENOSYS);
  for (const PathCall& call : kPathCalls) answer_if(filter, call.call, SECCOMP_RET_USER_NOTIF);
  for (const int call : kSocketCalls) answer_if(filter, call, SECCOMP_RET_USER_NOTIF);
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return filter;
}

int install_observing_filter(std::span<sock_filter> filter) {
  return install_listened_filter(filter, kObserverDescriptor);
}

// ---- What is seen

struct Observation::State {
  ObserveOptions options;
  UniqueFd ours;                      // listeners come here
  std::optional<ObserverEnd> theirs;  // and are sent there
  UniqueFd stop;

  std::mutex mutex;
  std::condition_variable over;
  bool is_over = false;
  std::size_t starts = 0;
  Seen seen;

  // Of the thread that listens alone.
  std::unordered_map<std::string, std::size_t> known;  // of seen.places
  std::size_t lookups = 0;
  std::uint64_t calls = 0;
  std::string asked;

  void listen();
  void hear(int listener);
  void note(const seccomp_notif& call, int listener);
  void note_place(pid_t thread, int folder, std::uint64_t path, std::uint16_t use);
  void note_address(pid_t thread, std::uint64_t address, std::uint64_t size);
  void note_message(pid_t thread, std::uint64_t message);
  void note_question(pid_t thread, std::uint64_t data, std::uint64_t size);
  void keep(const std::string& path, std::uint16_t use);
  [[nodiscard]] bool is_left_out(const std::string& path) const;
};

namespace {

std::uint16_t use_of_open(std::uint64_t flags) {
  if ((flags & O_PATH) != 0) return kLooked;
  const std::uint64_t access = flags & O_ACCMODE;
  std::uint16_t use = access == O_WRONLY ? kWritten : kRead;
  if (access == O_RDWR || (flags & O_TRUNC) != 0) use |= kWritten;
  if ((flags & O_CREAT) != 0) use |= kCreated;
  return use;
}

// The file at that path for that thread: nothing where there is none.
struct Lies {
  bool there = false;
  bool can_be_written = true;
};
Lies look_inside(pid_t thread, const std::string& path) {
  const std::string root = "/proc/" + std::to_string(thread) + "/root";
  const UniqueFd folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return {};
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  const auto opened = [&](std::uint64_t flags) {
    how.flags |= flags;
    return UniqueFd(static_cast<int>(
        ::syscall(kObservedOpenat2, folder.get(), path.c_str(), &how, sizeof how)));
  };
  UniqueFd fd = opened(0);
  if (!fd) fd = opened(O_NOFOLLOW);  // a link to nowhere is there, too
  if (!fd) return {};
  struct statvfs system {};
  const bool knows = ::fstatvfs(fd.get(), &system) == 0;
  return {.there = true, .can_be_written = !knows || (system.f_flag & ST_RDONLY) == 0};
}

// Normal, and absolute; empty: it cannot be known.
std::string whole_path(pid_t thread, int folder, const std::string& path) {
  if (path.starts_with('/')) return fs::path(path).lexically_normal().string();
  const std::string base =
      link_of(thread, folder == AT_FDCWD ? "cwd" : "fd/" + std::to_string(folder));
  if (!base.starts_with('/')) return {};
  std::string whole = (fs::path(base) / path).lexically_normal().string();
  return whole;
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

bool is_below(const std::string& path, const std::string& folder) {
  return path == folder ||
         (path.starts_with(folder) && (folder.ends_with('/') || path[folder.size()] == '/'));
}

}  // namespace

bool Observation::State::is_left_out(const std::string& path) const {
  return std::ranges::any_of(
      options.left_out, [&](const fs::path& folder) { return is_below(path, folder.native()); });
}

void Observation::State::keep(const std::string& path, std::uint16_t use) {
  const std::scoped_lock alone(mutex);
  if (const auto found = known.find(path); found != known.end()) {
    SeenPlace& place = seen.places[found->second];
    if (place.uses == kLooked && use != kLooked) --lookups;
    place.uses |= use;
    place.last = calls;
    return;
  }
  if (seen.places.size() - lookups >= kMostSeenPlaces ||
      (use == kLooked && lookups >= kMostSeenLookups)) {
    seen.is_cut = true;
    return;
  }
  if (use == kLooked) ++lookups;
  known.emplace(path, seen.places.size());
  seen.places.push_back({.path = path, .uses = use, .last = calls});
}

void Observation::State::note_place(pid_t thread, int folder, std::uint64_t path,
                                    std::uint16_t use) {
  const auto text = read_string(thread, path);
  if (!text || text->empty()) return;
  const std::string whole = without_slash(whole_path(thread, folder, *text));
  if (whole.empty() || is_left_out(whole)) return;
  const Lies inside = look_inside(thread, whole);
  if (!options.only_refused) {
    // What makes something makes it where nothing is.
    const bool makes = (use & (kCreated | kReplaced)) != 0;
    if (!inside.there && !makes) return;
    use &= static_cast<std::uint16_t>(inside.there ? ~kCreated : ~kEnsured);
    if (use == 0) use = kLooked;
    return keep(whole, use);
  }
  use &= static_cast<std::uint16_t>(~kEnsured);
  const auto& [from, to] = options.stands_for;
  std::string outside = whole;
  if (!from.empty() && is_below(whole, from.native()))
    outside = to.native() + whole.substr(from.native().size());
  struct stat info {};
  const bool makes = (use & (kCreated | kReplaced)) != 0;
  const std::string lies = makes ? fs::path(outside).parent_path().string() : outside;
  if (inside.there) {
    if ((use & kChanges) != 0 && !inside.can_be_written) keep(outside, use);
    return;
  }
  // Made in a folder that it has: that is no refusal, or one of the folder.
  if (makes) {
    const Lies above = look_inside(thread, fs::path(whole).parent_path().string());
    if (above.there && above.can_be_written) return;
  }
  if (::lstat(lies.c_str(), &info) == 0) keep(outside, use);
}

void Observation::State::note_question(pid_t thread, std::uint64_t data, std::uint64_t size) {
  std::array<char, 1024> bytes{};
  if (data == 0 || size > bytes.size()) return;
  const std::size_t got =
      read_memory(thread, data, std::span(bytes).first(static_cast<std::size_t>(size)));
  std::string name = question_of({bytes.data(), got});
  if (name.empty()) return;
  const std::scoped_lock alone(mutex);
  asked = name;
  if (std::ranges::find(seen.names, name) != seen.names.end()) return;
  if (seen.names.size() < kMostSeenHosts)
    seen.names.push_back(std::move(name));
  else
    seen.is_cut = true;
}

void Observation::State::note_address(pid_t thread, std::uint64_t address, std::uint64_t size) {
  sockaddr_storage storage{};
  if (address == 0 || size < sizeof(sa_family_t) || size > sizeof storage) return;
  const std::span<char> bytes(reinterpret_cast<char*>(&storage), static_cast<std::size_t>(size));
  if (read_memory(thread, address, bytes) != size) return;
  std::array<char, INET6_ADDRSTRLEN> text{};
  SeenHost host;
  if (storage.ss_family == AF_UNIX) {
    sockaddr_un local{};
    std::memcpy(&local, &storage, sizeof local);
    local.sun_path[sizeof local.sun_path - 1] = '\0';
    const std::string path = local.sun_path;
    if (!path.starts_with('/') || is_left_out(path)) return;
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return;
    if (options.only_refused && look_inside(thread, path).there) return;
    const std::scoped_lock alone(mutex);
    if (std::ranges::find(seen.sockets, path) == seen.sockets.end() &&
        seen.sockets.size() < kMostSeenHosts)
      seen.sockets.push_back(path);
    return;
  }
  if (storage.ss_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &storage, sizeof four);
    ::inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
    host.port = ntohs(four.sin_port);
  } else if (storage.ss_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &storage, sizeof six);
    if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
      ::inet_ntop(AF_INET, &six.sin6_addr.s6_addr[12], text.data(), text.size());
    else
      ::inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
    host.port = ntohs(six.sin6_port);
  } else {
    return;
  }
  constexpr std::uint16_t kDns = 53;
  // Port 0: only which of our addresses would be used.
  if (host.port == 0 || host.port == kDns) return;
  host.address = text.data();
  const std::scoped_lock alone(mutex);
  host.asked = asked;
  const bool is_known = std::ranges::any_of(seen.hosts, [&](const SeenHost& other) {
    return other.address == host.address && other.port == host.port;
  });
  if (is_known) return;
  if (seen.hosts.size() < kMostSeenHosts)
    seen.hosts.push_back(std::move(host));
  else
    seen.is_cut = true;
}

void Observation::State::note_message(pid_t thread, std::uint64_t message) {
  const auto header = read_value<msghdr>(thread, message);
  if (!header) return;
  if (header->msg_name != nullptr)
    note_address(thread, reinterpret_cast<std::uintptr_t>(header->msg_name), header->msg_namelen);
  if (header->msg_iovlen != 1) return;
  const auto part = read_value<iovec>(thread, reinterpret_cast<std::uintptr_t>(header->msg_iov));
  if (part) note_question(thread, reinterpret_cast<std::uintptr_t>(part->iov_base), part->iov_len);
}

void Observation::State::note(const seccomp_notif& call, int listener) {
  const auto thread = static_cast<pid_t>(call.pid);
  const auto& a = call.data.args;
  ++calls;
  if (!still_there(listener, call.id)) return;
  switch (call.data.nr) {
    case SYS_connect: return note_address(thread, a[1], a[2]);
    case SYS_sendto: note_question(thread, a[1], a[2]); return note_address(thread, a[4], a[5]);
    case SYS_sendmsg: return note_message(thread, a[1]);
    case SYS_sendmmsg:
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(a[2], 2); ++i)
        note_message(thread, a[1] + i * sizeof(mmsghdr));
      return;
    default: break;
  }
  const PathCall* named = path_call(call.data.nr);
  if (named == nullptr) return;
  const auto folder_of = [&](int argument) {
    return argument == kNoFolder ? AT_FDCWD : static_cast<int>(a[argument]);
  };
  std::uint16_t use = named->use;
  if (call.data.nr == SYS_open) use = use_of_open(a[1]);
  if (call.data.nr == SYS_openat) use = use_of_open(a[2]);
  if (call.data.nr == SYS_creat) use |= kCreated;
  if (call.data.nr == kObservedOpenat2) {
    const auto flags = read_value<std::uint64_t>(thread, a[2]);
    use = use_of_open(flags.value_or(O_RDONLY));
  }
  note_place(thread, folder_of(named->folder), a[named->path], use);
  if (named->other_path >= 0)
    note_place(thread, folder_of(named->other_folder), a[named->other_path], named->other_use);
}

void Observation::State::hear(int listener) {
  seccomp_notif call{};
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;
  note(call, listener);
  seccomp_notif_resp reply{};
  reply.id = call.id;
  reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  // ENOENT: it was killed, or interrupted, meanwhile.
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply) != 0) errno = 0;
}

// Until it is told to stop. Of several starts the listeners come one after the other.
void Observation::State::listen() {
  constexpr std::size_t kMostListeners = 64;
  std::vector<UniqueFd> listeners;
  for (;;) {
    std::vector<pollfd> waits{{stop.get(), POLLIN, 0},
                              {listeners.size() < kMostListeners ? ours.get() : -1, POLLIN, 0}};
    for (const UniqueFd& listener : listeners) waits.push_back({listener.get(), POLLIN, 0});
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) break;
    if (waits[0].revents != 0) break;
    for (std::size_t i = 0; i + 2 < waits.size(); ++i) {
      if ((waits[i + 2].revents & POLLIN) != 0)
        hear(listeners[i].get());
      else if (waits[i + 2].revents != 0)
        listeners[i].reset();  // no thread is left to listen to
    }
    std::erase_if(listeners, [](const UniqueFd& listener) { return !listener; });
    if (waits[1].revents == 0) continue;
    auto packet = receive_packet(ours.get(), 1);
    if (!packet || packet->bytes.empty()) break;
    for (UniqueFd& listener : packet->descriptors) {
      listeners.push_back(std::move(listener));
      const std::scoped_lock alone(mutex);
      ++starts;
    }
  }
  listeners.clear();
  ours.reset();  // its calls fail where the listener comes too late, and do not wait
  const std::scoped_lock alone(mutex);
  is_over = true;
  over.notify_all();
}

Observation::Observation(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Observation>> Observation::begin(ObserveOptions options) {
  auto state = std::make_shared<State>();
  state->options = std::move(options);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(ErrorId::kInternal, "cannot make a socket to observe over");
  state->ours = UniqueFd(ends[0]);
  const UniqueFd low(ends[1]);
  // Above those that a child has its own in.
  constexpr int kAboveStandard = 16;
  UniqueFd theirs(::fcntl(low.get(), F_DUPFD_CLOEXEC, kAboveStandard));
  if (!theirs) return fail(ErrorId::kInternal, "cannot keep a socket to observe over");
  state->theirs.emplace(std::move(theirs));
  state->stop = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!state->stop) return fail(ErrorId::kInternal, "cannot make an eventfd to observe with");
  // It may stay behind in a read of memory that no disk answers, so it owns what it works with.
  std::thread([state] { state->listen(); }).detach();
  return std::unique_ptr<Observation>(new Observation(std::move(state)));
}

Observation::~Observation() {
  [[maybe_unused]] const Seen rest = end();
}

ObserverEnd::ObserverEnd(UniqueFd socket)
    : socket_(std::move(socket)), filter_(observing_filter()) {}

int ObserverEnd::enter_child() const {
  if (::dup3(socket_.get(), kObserverDescriptor, O_CLOEXEC) < 0) return errno;
  const int error = install_observing_filter(filter_);
  if (error != EACCES) return error;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return install_observing_filter(filter_);
}

const ObserverEnd& Observation::entrance() const {
  return *state_->theirs;
}

std::size_t Observation::starts() const {
  const std::scoped_lock alone(state_->mutex);
  return state_->starts;
}

Seen Observation::end() {
  constexpr std::uint64_t kOne = 1;
  if (::write(state_->stop.get(), &kOne, sizeof kOne) < 0) errno = 0;
  std::unique_lock alone(state_->mutex);
  state_->over.wait_for(alone, std::chrono::seconds(1), [this] { return state_->is_over; });
  return state_->seen;
}

}  // namespace mcpac::sandbox
