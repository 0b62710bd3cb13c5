// SPDX-License-Identifier: Apache-2.0

#include "sandbox/listener.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "sandbox/call_names.h"
#include "sandbox/child_memory.h"
#include "sandbox/look.h"

namespace mcpac::sandbox {
namespace {

// By raw calls: from here on the filter stands, and it knows no other socket.
int hand_over(int listener, int report) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof listener);
  std::memcpy(CMSG_DATA(rights), &listener, sizeof listener);
  return ::syscall(SYS_sendmsg, report, &message, MSG_NOSIGNAL) == 1 ? 0 : errno;
}

// Interrupts a wait of ours again and again, so that one which begins late is ended as well.
class Alarm {
 public:
  Alarm() {
    struct sigaction handle {};
    handle.sa_handler = [](int) {};  // without SA_RESTART: the wait ends
    ::sigaction(SIGALRM, &handle, nullptr);
    constexpr timeval kSoon{.tv_sec = 0, .tv_usec = 100};
    constexpr itimerval kAgain{.it_interval = kSoon, .it_value = kSoon};
    ::setitimer(ITIMER_REAL, &kAgain, nullptr);
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() {
    constexpr itimerval kNever{};
    ::setitimer(ITIMER_REAL, &kNever, nullptr);
  }
};

// From 5.19 on a call that was received waits for nothing but its end, so that what is read of it
// is still true; older kernels do not know that flag.
long install_with_listener(sock_fprog& program) {
  constexpr unsigned long kOld = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  constexpr unsigned long kNew = kOld | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
  const long listener = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kNew, &program);
  if (listener >= 0 || errno != EINVAL) return listener;
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kOld, &program);
}

Violation unnamed() {
  Violation violation;
  violation.happened = 1;
  return violation;
}

}  // namespace

bool still_there(int listener, std::uint64_t id) {
  return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

bool has_hung_up(int listener) {
  pollfd end{listener, 0, 0};
  return ::poll(&end, 1, 0) != 0;
}

Violation read_violation(int listener, const seccomp_notif& notification) {
  Violation violation = unnamed();
  violation.call = notification.data.nr;
  const ChildMemory memory(static_cast<pid_t>(notification.pid));
  const auto argument = path_argument_of(violation.call);
  const Sight sight =
      look_at(memory, notification.data.instruction_pointer, memory.stack_pointer(),
              argument ? std::optional(notification.data.args[*argument]) : std::nullopt);
  Violation seen = violation;
  seen.stand = sight.stand;
  seen.path = sight.text;
  return still_there(listener, notification.id) ? seen : violation;
}

int install_listened_filter(std::span<sock_filter> filter, int report) {
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  const long listener = install_with_listener(program);
  // The descriptor closes with the exec.
  return listener < 0 ? errno : hand_over(static_cast<int>(listener), report);
}

Violation receive_violation(int listener) {
  seccomp_notif notification{};
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notification) != 0) return unnamed();
  return read_violation(listener, notification);
}

std::optional<Violation> missed_violation(int listener) {
  seccomp_notif notification{};
  int error = 0;
  {
    const Alarm alarm;
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notification) != 0) error = errno;
  }
  if (error == 0) return read_violation(listener, notification);
  if (error != ENOENT || has_hung_up(listener)) return std::nullopt;
  return unnamed();
}

}  // namespace mcpac::sandbox
