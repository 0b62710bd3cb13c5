// SPDX-License-Identifier: Apache-2.0

// mcpac-keeper: the parent of one server, so that nothing of it stays.
//
// What a server starts may leave its process group and its session (setsid), and lose its parent;
// then nothing that mcpac knows would lead to it. The keeper is the subreaper of all of them: what
// loses its parent becomes a child of the keeper, which kills until it has none left. It does so
// when the server has ended, when its descriptor 4 ends (mcpac closed it, or is gone, however it
// ended), or a byte comes there. No namespace and no privilege is needed. It ends as the server
// did. Against a server that kills its keeper it is no help: servers run as the user does.
//
// Of a confined server it is the first process of its pid namespace (argv[0] is "confined"): the
// kernel kills all of that with it. It is told by one socket then, descriptor 3: on it goes one
// number for the start (0, or the errno), and at the server's end its wait status; a byte that
// comes is a signal for the server's group, and the end of it is the order to kill. With argv[0]
// "confined+N" it has N sockets of the sandbox's network namespace as descriptors 4 and up, which
// it hands to mcpac before anything else, beside a number that says nothing: mcpac listens on them.
//
// With argv[0] "confined-alone" there is no namespace (tier B). All that it may signal is what came
// of it, by the Landlock scope that it is started in: so it ends all of that with one call, and
// refuses to start where its parent could be reached. The server gets a narrower scope of its own,
// and cannot signal its keeper. SIGUSR2 is the order to end (sandbox/process.h), and none for the
// group.
//
// Arguments: the server's program, and its argv. Descriptors: 0 to 2 are the server's, 3 takes the
// errno of a start that failed and is closed by one that did not. It leads the process group that
// the server is in, and blocks all signals, so those for the group are for the others.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

constexpr int kReport = 3;
constexpr int kControl = 4;
// Against what cannot be killed: a process that waits for a disk, or is another user's.
constexpr long kMostKilling = 2'000;  // ms
constexpr int kKillingPause = 5;      // ms

long now_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000 + time.tv_nsec / 1'000'000;
}

// In the child of vfork(): system calls only.
[[noreturn]] void become(char** arguments, pid_t keeper) {
  const auto give_up = [] {
    const int error = errno;
    [[maybe_unused]] const auto told = ::write(kReport, &error, sizeof error);
    ::_exit(127);
  };
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up();
  if (::getppid() != keeper) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(arguments[1], arguments + 2, environ);
  give_up();
  ::_exit(127);
}

// Opened before it is needed: under a filter whose listener has gone nothing can be opened any
// more.
int list_of_children() {
  char name[64];
  std::snprintf(name, sizeof name, "/proc/self/task/%d/children", static_cast<int>(::getpid()));
  return ::open(name, O_RDONLY | O_CLOEXEC);
}

// `server` is 0 once it was reaped. Where the kernel lists no children, it alone can be killed.
void kill_children(pid_t server, int list) {
  if (list < 0 || ::lseek(list, 0, SEEK_SET) != 0) {
    if (server > 0) ::kill(server, SIGKILL);
    return;
  }
  char text[4'096];
  ssize_t size = 0;
  pid_t pid = 0;
  while ((size = ::read(list, text, sizeof text)) > 0) {
    for (ssize_t i = 0; i < size; ++i) {
      if (text[i] >= '0' && text[i] <= '9') {
        pid = pid * 10 + (text[i] - '0');
      } else if (pid > 0) {
        ::kill(pid, SIGKILL);
        pid = 0;
      }
    }
  }
}

// The status of `server`, where it is among those that ended. False: there are no children.
bool reap(pid_t server, int& status, bool& has_ended) {
  while (true) {
    int ended = 0;
    const pid_t pid = ::waitpid(-1, &ended, WNOHANG);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return pid == 0;
    if (pid != server) continue;
    status = ended;
    has_ended = true;
  }
}

void kill_all(pid_t server, int list, int& status, bool& has_ended) {
  const long until = now_ms() + kMostKilling;
  while (reap(server, status, has_ended) && now_ms() < until) {
    kill_children(has_ended ? 0 : server, list);
    pollfd none{};
    ::poll(&none, 0, kKillingPause);
  }
}

[[noreturn]] void end_as(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const int signal = WTERMSIG(status);
  ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::kill(::getpid(), signal);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::_exit(128 + signal);
}

// A number to mcpac, as a packet of its own.
void tell(int number) {
  while (::send(kReport, &number, sizeof number, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

// The sockets that mcpac listens on. What is not handed over ends with this process.
bool hand_over(int count) {
  constexpr int kMost = 16;
  constexpr int kFirst = 4;
  if (count < 1 || count > kMost) return false;
  int sockets[kMost];
  for (int i = 0; i < count; ++i) sockets[i] = kFirst + i;
  const std::size_t size = sizeof(int) * static_cast<std::size_t>(count);
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof sockets)] = {};
  int nothing = 0;
  iovec bytes{&nothing, sizeof nothing};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = CMSG_SPACE(size);
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(size);
  std::memcpy(CMSG_DATA(header), sockets, size);
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(kReport, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  for (int i = 0; i < count; ++i) ::close(sockets[i]);
  return sent >= 0;
}

// <linux/landlock.h> of Debian 12 ends at ABI 2. -1 with errno.
int make_scope() {
  constexpr long kCreateRuleset = 444;
  const struct {
    std::uint64_t files;
    std::uint64_t network;
    std::uint64_t scopes;
  } attributes{0, 0, 3 /* abstract sockets and signals */};
  return static_cast<int>(::syscall(kCreateRuleset, &attributes, sizeof attributes, 0));
}

// State of a confined keeper without a pid namespace.
struct Alone {
  bool is = false;
  int scope = -1;
  pid_t keeper = 0;
};

// In a child of vfork(), whose memory is the keeper's: `error` is seen there.
[[noreturn]] void become_confined(char** arguments, const Alone& alone, volatile int& error) {
  constexpr long kRestrictSelf = 446;
  if (alone.is &&
      (::syscall(kRestrictSelf, alone.scope, 0) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)) {
    error = errno;
    ::_exit(127);
  }
  if (alone.is && ::getppid() != alone.keeper) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(arguments[1], arguments + 2, environ);
  error = errno;
  ::_exit(127);
}

// Of the sandbox's process.h, which is another floor's. No order for the group can be it: standard
// signals do not queue, so one that the keeper sent itself could take its room.
constexpr int kEndRequest = SIGUSR2;

// What the signals say: false for the order to end.
bool goes_on(int signals) {
  bool goes = true;
  signalfd_siginfo told{};
  while (::read(signals, &told, sizeof told) > 0) {
    if (told.ssi_signo == kEndRequest) goes = false;
  }
  return goes;
}

// All that it may signal, until none is left.
void kill_all_of_scope(pid_t server, int& status, bool& has_ended) {
  const long until = now_ms() + kMostKilling;
  do {
    ::kill(-1, SIGKILL);
    pollfd none{};
    if (reap(server, status, has_ended)) ::poll(&none, 0, kKillingPause);
  } while (reap(server, status, has_ended) && now_ms() < until);
}

// With a pid namespace its end is that of all others here, so it kills none itself.
[[noreturn]] void keep_confined(char** arguments, int ends, const Alone& alone) {
  volatile int error = 0;
  const pid_t server = ::vfork();
  if (server == 0) become_confined(arguments, alone, error);
  if (server < 0) error = errno;
  tell(error);
  if (error != 0) ::_exit(127);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
  int status = 0;
  bool has_ended = false;
  bool is_told = false;
  while (true) {
    pollfd waits[] = {{ends, POLLIN, 0}, {kReport, POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0 && errno != EINTR) break;
    is_told = !goes_on(ends);
    if (!reap(server, status, has_ended) || has_ended || is_told) break;
    if (waits[1].revents == 0) continue;
    unsigned char order = 0;
    if (::recv(kReport, &order, sizeof order, MSG_DONTWAIT) != sizeof order) break;
    if (alone.is && order == SIGKILL) break;
    if (!alone.is || order != kEndRequest) ::kill(0, order);
  }
  if (alone.is) kill_all_of_scope(server, status, has_ended);
  if (has_ended) tell(status);
  // The sender wants to see that it was killed.
  if (is_told) ::kill(::getpid(), SIGKILL);
  ::_exit(0);
}

}  // namespace

int main(int count, char** arguments) {
  constexpr const char* kConfined = "confined";
  const std::size_t length = std::strlen(kConfined);
  const bool confined = count > 0 && std::strncmp(arguments[0], kConfined, length) == 0;
  Alone alone;
  alone.is = confined && std::strcmp(arguments[0] + length, "-alone") == 0;
  if (count < 3 || ::fcntl(kReport, F_SETFD, FD_CLOEXEC) != 0 ||
      (!confined && ::fcntl(kControl, F_SETFD, FD_CLOEXEC) != 0)) {
    std::fputs("mcpac-keeper is started by mcpac\n", stderr);
    return 64;
  }
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  if (alone.is) sigaddset(&children, kEndRequest);
  const int ends = ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  // The first process of a pid namespace is that without being asked.
  const bool is_first = confined && !alone.is;
  if (ends < 0 || (!is_first && ::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)) {
    const int error = errno;
    [[maybe_unused]] const auto told = ::write(kReport, &error, sizeof error);
    return 127;
  }
  if (alone.is) {
    alone.keeper = ::getpid();
    alone.scope = make_scope();
    const bool is_apart = ::kill(::getppid(), 0) != 0 && errno == EPERM;
    if (alone.scope < 0 || !is_apart) {
      tell(ENOTSUP);
      return 127;
    }
  }
  if (confined && arguments[0][length] == '+' && !hand_over(std::atoi(arguments[0] + length + 1)))
    return 127;
  if (confined) keep_confined(arguments, ends, alone);
  const pid_t self = ::getpid();
  const int list = list_of_children();
  const pid_t server = ::vfork();
  if (server == 0) become(arguments, self);
  if (server < 0) {
    const int error = errno;
    [[maybe_unused]] const auto told = ::write(kReport, &error, sizeof error);
    return 127;
  }
  // Or what the server closes would stay open.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, kReport}) ::close(fd);
  int status = 0;
  bool has_ended = false;
  while (!has_ended) {
    pollfd waits[] = {{ends, POLLIN, 0}, {kControl, POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0 && errno != EINTR) break;
    signalfd_siginfo told{};
    while (::read(ends, &told, sizeof told) > 0) {
    }
    if (!reap(server, status, has_ended) || waits[1].revents != 0) break;
  }
  kill_all(server, list, status, has_ended);
  if (!has_ended) ::_exit(0);
  end_as(status);
}
