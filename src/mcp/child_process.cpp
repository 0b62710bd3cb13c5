// SPDX-License-Identifier: Apache-2.0

#include "mcp/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "core/printable.h"
#include "core/shell_quote.h"
#include "ipc/aside.h"
#include "mcp/config_member.h"
#include "mcp/spawn.h"

namespace mcpac::mcp {
namespace asio = boost::asio;
namespace {

std::string reason(int error) {
  return std::system_category().message(error);
}

// Bytes that a server can write before it has to wait for us. Node's servers collect what does not
// fit, and copy it several times (docs/adr/0050).
constexpr int kOutput = 1 << 20;

struct Ends {
  UniqueFd ours;
  UniqueFd theirs;
};

Result<Ends> make_socket_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return fail(ErrorId::kServerStart, "cannot make a socket: " + reason(errno));
  }
  return Ends{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Result<Ends> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) {
    return fail(ErrorId::kServerStart, "cannot make a pipe: " + reason(errno));
  }
  return Ends{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// dup2 of a descriptor onto itself would leave it close-on-exec, and one below 3 could be
// overwritten before its turn; so ours start above. Only a parent without standard descriptors
// needs this.
Result<UniqueFd> above_standard(UniqueFd fd) {
  if (fd.get() > STDERR_FILENO) return fd;
  UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!moved) return fail(ErrorId::kServerStart, "cannot move a descriptor: " + reason(errno));
  return moved;
}

std::unexpected<Error> cannot_start(const SpawnOptions& options, int error) {
  std::string fix =
      options.working_directory.empty() ? "check \"command\"" : "check \"command\" and \"cwd\"";
  const auto words = words_of(options.program);
  if (error == ENOENT && words.size() > 1)
    fix = "no shell takes \"command\" apart: " + command_fix(words);
  const bool is_relative = options.program.contains('/') && !options.program.starts_with('/');
  std::error_code gone;  // a folder that was removed meanwhile
  const std::string folder = options.working_directory.empty()
                                 ? std::filesystem::current_path(gone).string()
                                 : options.working_directory;
  const std::string program = (std::filesystem::path(folder) / options.program).string();
  constexpr const char* kByInterpreter =
      "or write its interpreter as \"command\" and it among \"args\"";
  if (error == ENOEXEC)
    fix = fmt::format(
        "begin it with the line that names its interpreter, like #!/usr/bin/env "
        "python3; {}",
        kByInterpreter);
  else if (error == EACCES && ::access(program.c_str(), F_OK) == 0 &&
           ::access(program.c_str(), X_OK) != 0)
    fix = fmt::format("chmod +x {}; {}", shell_quoted(printable(program)), kByInterpreter);
  std::string why = is_relative ? "a relative path begins at " + folder : "";
  return fail(ErrorId::kServerStart,
              fmt::format("cannot start \"{}\": {}", options.program, reason(error)),
              {.why = std::move(why), .fix = std::move(fix)});
}

// One number of the keeper, or nothing where its end has come; it waits for it. `sockets` takes
// those that come with it.
std::optional<int> receive_number(int control, std::vector<UniqueFd>* sockets = nullptr) {
  constexpr std::size_t kMost = 16;
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int) * kMost)] = {};
  int number = 0;
  iovec bytes{&number, sizeof number};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (sockets != nullptr) {
    message.msg_control = room;
    message.msg_controllen = sizeof room;
  }
  ssize_t size = 0;
  do {
    size = ::recvmsg(control, &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size != sizeof number) return std::nullopt;
  const cmsghdr* const header = sockets == nullptr ? nullptr : CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    for (std::size_t at = 0; CMSG_LEN(at + sizeof(int)) <= header->cmsg_len; at += sizeof(int)) {
      int socket = -1;
      std::memcpy(&socket, CMSG_DATA(header) + at, sizeof socket);
      sockets->emplace_back(socket);
    }
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0) return std::nullopt;  // no room for descriptors here
  return number;
}

std::string text_of_status(int status) {
  if (WIFEXITED(status)) return fmt::format("exit status {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return fmt::format("signal {} ({})", signal, ::strsignal(signal));
}

}  // namespace

Result<ChildProcess::Begun> ChildProcess::begin_confined(const SpawnOptions& options,
                                                         const ConfinedEnds& ends) {
  const ConfinedSpawn& confined = *options.confined;
  if (!confined.confiner) {
    return fail(
        ErrorId::kServerStart, "a server with a \"sandbox\" cannot be started here",
        {.why = "nothing that confines it is at hand, and without that it would have more"});
  }
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return fail(ErrorId::kServerStart, "cannot make a socket: " + reason(errno));
  UniqueFd ours(pair[0]);
  UniqueFd theirs(pair[1]);
  // It tells within a moment; one that was stopped never would.
  constexpr timeval kPatience{.tv_sec = 10, .tv_usec = 0};
  std::ignore = ::setsockopt(ours.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ConfinedEnds all = ends;
  all.control = theirs.get();
  auto process = confined.confiner->start(confined.server, options, all);
  if (!process) return pass_on(process);
  theirs.reset();
  std::vector<UniqueFd> sockets;
  auto error = receive_number(ours.get(), &sockets);
  if (error && (*process)->hands_over()) {
    if (sockets.empty() && *error == 0) error.reset();
    if (!sockets.empty()) {
      if (auto listening = (*process)->listen_on(std::move(sockets)); !listening)
        return pass_on(listening);
      error = receive_number(ours.get());
    }
  }
  if (!error) {
    return fail(ErrorId::kServerStart, "the keeper of a confined server ended, or does not answer",
                {.why = "it was killed or stopped, or has no memory"});
  }
  if (*error != 0) return cannot_start(options, *error);
  Begun begun;
  begun.end = UniqueFd(::fcntl((*process)->end_descriptor(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!begun.end) return fail(ErrorId::kServerStart, "cannot watch the server: " + reason(errno));
  begun.control = std::move(ours);
  begun.confined = std::move(*process);
  return begun;
}

Result<std::shared_ptr<ChildProcess>> ChildProcess::spawn(const asio::any_io_executor& executor,
                                                          const SpawnOptions& options) {
  auto begun = begin(options);
  if (!begun) return pass_on(begun);
  return std::shared_ptr<ChildProcess>(new ChildProcess(executor, std::move(*begun)));
}

asio::awaitable<Result<std::shared_ptr<ChildProcess>>> ChildProcess::spawn_aside(
    asio::any_io_executor executor, SpawnOptions options) {
  if (!options.confined || !options.confined->confiner) co_return spawn(executor, options);
  ConfinedSpawn& confined = *options.confined;
  if (auto now = confined.confiner->at_this_moment(confined.server))
    confined.confiner = std::move(now);
  std::function<Result<Begun>()> work = [options = std::move(options)] { return begin(options); };
  auto begun = co_await ipc::aside<Result<Begun>>(executor, std::move(work));
  if (!begun) co_return pass_on(begun);
  co_return std::shared_ptr<ChildProcess>(new ChildProcess(executor, std::move(*begun)));
}

Result<ChildProcess::Begun> ChildProcess::begin(const SpawnOptions& options) {
  auto in = make_socket_pair();
  if (!in) return pass_on(in);
  auto out = make_socket_pair();
  if (!out) return pass_on(out);
  // As much of it as the kernel grants (net.core.wmem_max).
  std::ignore = ::setsockopt(out->theirs.get(), SOL_SOCKET, SO_SNDBUF, &kOutput, sizeof kOutput);
  auto err = make_pipe();
  if (!err) return pass_on(err);
  for (UniqueFd* fd : {&in->theirs, &out->theirs, &err->theirs}) {
    auto moved = above_standard(std::move(*fd));
    if (!moved) return pass_on(moved);
    *fd = std::move(*moved);
  }

  if (!options.keeper.empty() && ::access(options.keeper.c_str(), X_OK) != 0) {
    return fail(ErrorId::kServerStart,
                fmt::format("cannot start {}: {}", options.keeper, reason(errno)),
                {.why = "it ends what a server leaves behind", .fix = "install mcpac anew"});
  }
  if (options.confined) {
    auto confined = begin_confined(options, {.standard_input = in->theirs.get(),
                                             .standard_output = out->theirs.get(),
                                             .standard_error = err->theirs.get()});
    if (!confined) return confined;
    confined->stdin_end = std::move(in->ours);
    confined->stdout_end = std::move(out->ours);
    confined->stderr_end = std::move(err->ours);
    return confined;
  }
  UniqueFd control;
  const auto started =
      spawn_child(options, in->theirs.get(), out->theirs.get(), err->theirs.get(), &control);
  if (!started) return cannot_start(options, started.error());
  const pid_t pid = *started;
  // Our children are reaped here alone, so the number still means this one.
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) {
    const int failed = errno;
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return fail(ErrorId::kServerStart, "cannot watch the server: " + reason(failed),
                {.why = "pidfd_open needs Linux 5.3"});
  }
  Begun begun;
  begun.stdin_end = std::move(in->ours);
  begun.stdout_end = std::move(out->ours);
  begun.stderr_end = std::move(err->ours);
  begun.pid = pid;
  begun.end = std::move(pidfd);
  begun.control = std::move(control);
  return begun;
}

ChildProcess::ChildProcess(const asio::any_io_executor& executor, Begun begun)
    : stdin_end(std::move(begun.stdin_end)),
      stdout_end(std::move(begun.stdout_end)),
      stderr_end(std::move(begun.stderr_end)),
      executor_(executor),
      pid_(begun.pid),
      pidfd_(executor, begun.end.release()),
      control_(std::move(begun.control)),
      confined_(std::move(begun.confined)) {}

ChildProcess::~ChildProcess() {
  kill_now();
}

void ChildProcess::on_exit(std::function<void()> done) {
  on_exit_ = std::move(done);
  watch();
}

void ChildProcess::watch() {
  pidfd_.async_wait(asio::posix::stream_descriptor::wait_read,
                    [weak = weak_from_this()](const boost::system::error_code& error) {
                      const auto self = weak.lock();
                      if (!self || self->exited_ || error) return;
                      if (!self->reap()) return self->watch();
                      const auto done = std::move(self->on_exit_);
                      if (done) done();
                    });
}

// Learns the status without reaping, kills the rest of the group, then reaps.
bool ChildProcess::reap() {
  if (exited_) return true;
  if (confined_) return reap_confined();
  const auto handle = static_cast<id_t>(pidfd_.native_handle());
  siginfo_t info{};
  const bool known = ::waitid(P_PIDFD, handle, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (known && info.si_pid == 0) return false;
  signal_group(SIGKILL);
  ::waitid(P_PIDFD, handle, nullptr, WEXITED | WNOHANG);
  if (!known) {
    exit_text_ = "an unknown status";
  } else if (info.si_code == CLD_EXITED) {
    exit_text_ = fmt::format("exit status {}", info.si_status);
  } else {
    exit_text_ = fmt::format("signal {} ({})", info.si_status, ::strsignal(info.si_status));
  }
  is_over();
  return true;
}

// A keeper that was killed tells nothing, and only SIGKILL from outside reaches it.
bool ChildProcess::reap_confined() {
  pollfd end{.fd = pidfd_.native_handle(), .events = POLLIN, .revents = 0};
  if (::poll(&end, 1, 0) <= 0) return false;
  const auto status = control_ ? receive_number(control_.get()) : std::nullopt;
  limit_ = confined_->limit_hit();
  exit_text_ = limit_ ? limit_->what : text_of_status(status.value_or(SIGKILL));
  is_over();
  confined_.reset();
  return true;
}

void ChildProcess::is_over() {
  exited_ = true;
  boost::system::error_code ignored;
  pidfd_.close(ignored);
  for (auto* waiter : waiters_) waiter->cancel();
}

void ChildProcess::signal_group(int signal) const {
  if (exited_) return;
  if (!confined_) {
    ::kill(-pid_, signal);
  } else if (control_) {
    const auto order = static_cast<unsigned char>(signal);
    std::ignore = ::send(control_.get(), &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

asio::awaitable<bool> ChildProcess::wait(std::chrono::milliseconds at_most) {
  const auto self = shared_from_this();
  if (exited_) co_return true;
  asio::steady_timer timer(executor_, at_most);
  // Also when the loop is destroyed while this waits: then the frame unwinds without resuming.
  struct Registration {
    std::vector<asio::steady_timer*>& waiters;
    asio::steady_timer* timer;
    ~Registration() { std::erase(waiters, timer); }
  };
  waiters_.push_back(&timer);
  const Registration registration{waiters_, &timer};
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  co_return exited_;
}

void ChildProcess::kill_now() {
  if (exited_) return;
  // A killed process is gone within a scheduling step; one in an uninterruptible sleep is left to
  // init.
  constexpr int kPatienceMs = 2'000;
  // Of one that another waits for: the memory that it may have is given back in seconds.
  constexpr int kMomentMs = 200;
  const auto has_ended = [this](int patience) {
    pollfd ready{.fd = pidfd_.native_handle(), .events = POLLIN, .revents = 0};
    int count = 0;
    while ((count = ::poll(&ready, 1, patience)) < 0 && errno == EINTR) {
    }
    return count > 0;
  };
  const bool has_keeper = static_cast<bool>(control_);
  control_.reset();  // it kills the server and all that came of it, then ends
  if (confined_) {
    confined_->kill();
    if (has_ended(kMomentMs)) {
      reap();
    } else {
      exit_text_ = text_of_status(SIGKILL);
      is_over();
      confined_.reset();
    }
    return;
  }
  if (!has_keeper || !has_ended(kPatienceMs)) {
    signal_group(SIGKILL);
    has_ended(kPatienceMs);
  }
  reap();
}

}  // namespace mcpac::mcp
