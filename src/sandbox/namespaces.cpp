#include "sandbox/namespaces.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

namespace mcpac::sandbox {
namespace {

int write_whole(const char* path, std::string_view text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const ssize_t written = ::write(fd, text.data(), text.size());
  const int error = written < 0 ? errno : 0;
  ::close(fd);
  return error;
}

// snprintf into a local buffer: the child must not allocate.
int write_map(const char* path, unsigned inside, unsigned outside) {
  std::array<char, 64> line{};
  const int size = std::snprintf(line.data(), line.size(), "%u %u 1\n", inside, outside);
  return write_whole(path, {line.data(), static_cast<std::size_t>(size)});
}

constexpr unsigned kInnerId = 65534;

}  // namespace

int all_namespaces() {
  return CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
}

int map_ids(uid_t outer_user, gid_t outer_group) {
  if (const int error = write_whole("/proc/self/setgroups", "deny")) return error;
  if (const int error = write_map("/proc/self/uid_map", kInnerId, outer_user)) return error;
  return write_map("/proc/self/gid_map", kInnerId, outer_group);
}

int hide_host_name() {
  constexpr std::string_view kName = "sandbox";
  if (::sethostname(kName.data(), kName.size()) != 0) return errno;
  return ::setdomainname(kName.data(), kName.size()) == 0 ? 0 : errno;
}

int raise_loopback() {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return errno;
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", sizeof "lo");
  request.ifr_flags = IFF_UP;
  const int error = ::ioctl(socket, SIOCSIFFLAGS, &request) == 0 ? 0 : errno;
  ::close(socket);
  return error;
}

// A user namespace lives as long as something refers to it: a child that sleeps until its namespace
// has been opened is the way to get a descriptor for one without entering it.
IdMap make_id_map(uid_t user) {
  const long child =
      ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child < 0) return {};
  if (child == 0) {
    for (;;) ::pause();
  }
  const auto pid = static_cast<pid_t>(child);
  std::array<char, 64> path{};
  const auto in_proc = [&](const char* name) {
    std::snprintf(path.data(), path.size(), "/proc/%d/%s", pid, name);
    return path.data();
  };
  const bool mapped =
      write_map(in_proc("uid_map"), 0, user) == 0 && write_map(in_proc("gid_map"), 0, user) == 0;
  UniqueFd map(mapped ? ::open(in_proc("ns/user"), O_RDONLY | O_CLOEXEC) : -1);
  ::kill(pid, SIGKILL);
  return {.map = std::move(map), .ended = pid};
}

}  // namespace mcpac::sandbox
