// SPDX-License-Identifier: Apache-2.0

#include "sandbox/namespaces.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <tuple>
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

void bound_watches() {
  std::ignore = write_whole("/proc/sys/user/max_inotify_instances", "16");
  // A quarter of those that the user has.
  std::array<char, 32> text{};
  const int limit = ::open("/proc/sys/fs/inotify/max_user_watches", O_RDONLY | O_CLOEXEC);
  if (limit < 0) return;
  const ssize_t read = ::read(limit, text.data(), text.size() - 1);
  ::close(limit);
  const long all = read > 0 ? std::strtol(text.data(), nullptr, 10) : 0;
  if (all <= 0) return;
  const int size = std::snprintf(text.data(), text.size(), "%ld", std::max(all / 4, 1L));
  std::ignore = write_whole("/proc/sys/user/max_inotify_watches",
                            {text.data(), static_cast<std::size_t>(size)});
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

namespace {

// A route of type "local" over all destinations of a family: what is sent to any of them is for us.
int add_local_route(int socket, unsigned char family) {
  constexpr std::uint32_t kLoopback = 1;  // of every network namespace
  struct {
    nlmsghdr header;
    rtmsg route;
    rtattr attribute;
    std::uint32_t device;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_NEWROUTE;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK;
  request.route.rtm_family = family;
  request.route.rtm_table = RT_TABLE_LOCAL;
  request.route.rtm_protocol = RTPROT_STATIC;
  request.route.rtm_scope = RT_SCOPE_HOST;
  request.route.rtm_type = RTN_LOCAL;
  request.attribute.rta_len = RTA_LENGTH(sizeof request.device);
  request.attribute.rta_type = RTA_OIF;
  request.device = kLoopback;
  if (::send(socket, &request, sizeof request, 0) < 0) return errno;
  struct {
    nlmsghdr header;
    nlmsgerr answer;
    std::array<char, 256> rest;  // the request again
  } reply{};
  const ssize_t size = ::recv(socket, &reply, sizeof reply, 0);
  if (size < 0) return errno;
  if (static_cast<std::size_t>(size) < sizeof reply.header + sizeof reply.answer.error ||
      reply.header.nlmsg_type != NLMSG_ERROR)
    return EPROTO;
  return -reply.answer.error;
}

int bind_stream(std::uint16_t port) {
  constexpr int kOff = 0;
  constexpr int kBacklog = 64;
  int socket = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 both{};
  both.sin6_family = AF_INET6;
  both.sin6_port = htons(port);
  bool is_bound = socket >= 0 &&
                  ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &kOff, sizeof kOff) == 0 &&
                  ::bind(socket, reinterpret_cast<const sockaddr*>(&both), sizeof both) == 0;
  if (!is_bound) {  // no IPv6 in this kernel
    if (socket >= 0) ::close(socket);
    socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in all{};
    all.sin_family = AF_INET;
    all.sin_port = htons(port);
    is_bound =
        socket >= 0 && ::bind(socket, reinterpret_cast<const sockaddr*>(&all), sizeof all) == 0;
  }
  if (is_bound && ::listen(socket, kBacklog) == 0) return socket;
  if (socket >= 0) ::close(socket);
  return -1;
}

int bind_datagrams(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_port = htons(port);
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (socket >= 0 && ::bind(socket, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0)
    return socket;
  if (socket >= 0) ::close(socket);
  return -1;
}

}  // namespace

int own_every_address() {
  const int socket = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (socket < 0) return errno;
  const int error = add_local_route(socket, AF_INET);
  if (error == 0) std::ignore = add_local_route(socket, AF_INET6);
  ::close(socket);
  return error;
}

int bind_listens(std::span<const Listen> listens, int first) {
  for (const Listen& listen : listens) {
    const int socket = listen.kind == Listen::Kind::kStream ? bind_stream(listen.port)
                                                            : bind_datagrams(listen.port);
    if (socket < 0) return errno;
    const int error = ::dup3(socket, first++, O_CLOEXEC) < 0 ? errno : 0;
    ::close(socket);
    if (error != 0) return error;
  }
  return 0;
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
