// SPDX-License-Identifier: Apache-2.0

#include "mcp/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <tuple>
#include <vector>

namespace mcpac::mcp {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// All that the child needs, made before it is.
struct Child {
  const char* program;
  const char* folder;  // null: ours
  char* const* arguments;
  char* const* environment;
  std::array<int, 3> standard;
  int report;
  int control;  // of the keeper, or -1
  const Observer* observer;
  pid_t parent;
};

// Where the keeper has them (keeper_main.cpp).
constexpr int kReport = 3;
constexpr int kControl = 4;

// Not only what is marked close-on-exec: a library may have opened a descriptor without it.
void close_the_rest_on_exec() {
  constexpr unsigned kFirst = STDERR_FILENO + 1;
  if (::close_range(kFirst, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  const long most = ::sysconf(_SC_OPEN_MAX);  // before Linux 5.11
  for (int fd = kFirst; fd < most; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// Between vfork() and exec: system calls only, for the memory is our parent's.
int prepare_and_exec(const Child& child) {
  if (::setpgid(0, 0) != 0) return errno;
  for (int fd = 0; fd < 3; ++fd) {
    if (::dup2(child.standard[static_cast<std::size_t>(fd)], fd) < 0) return errno;
  }
  close_the_rest_on_exec();
  if (child.control >= 0 &&
      (::dup2(child.report, kReport) < 0 || ::dup2(child.control, kControl) < 0))
    return errno;
  if (child.folder != nullptr && ::chdir(child.folder) != 0) return errno;
  // A parent that died before this line sends nothing any more.
  // A keeper sees its control end, and must live to kill.
  if (child.control < 0 && ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  if (::getppid() != child.parent) return ESRCH;
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (child.observer != nullptr) {
    if (const int error = child.observer->enter_child()) return error;
  }
  ::execve(child.program, child.arguments, child.environment);
  return errno;
}

// Here because nothing that lives across vfork() may be changed after it.
[[gnu::noinline]] pid_t start(const Child& child) {
  const pid_t pid = ::vfork();
  if (pid != 0) return pid;
  const int error = prepare_and_exec(child);
  std::ignore = ::write(child.report, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

std::expected<pid_t, int> spawn_child(const SpawnOptions& options, int in, int out, int err,
                                      UniqueFd* control) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(errno);
  const UniqueFd reports(ends[0]);
  UniqueFd low(ends[1]);
  // Above what the child's own go over, and not under a name that would stay open.
  UniqueFd report(::fcntl(low.get(), F_DUPFD_CLOEXEC, kControl + 1));
  low.reset();
  if (!report) return std::unexpected(errno);
  UniqueFd kept;
  std::vector<std::string> words = options.arguments;
  if (!options.keeper.empty() && control != nullptr) {
    int pair[2];
    if (::pipe2(pair, O_CLOEXEC) != 0) return std::unexpected(errno);
    const UniqueFd theirs(pair[0]);
    *control = UniqueFd(pair[1]);
    kept = UniqueFd(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, kControl + 1));
    if (!kept) return std::unexpected(errno);
    words.insert(words.begin(), {options.keeper, options.program});
  }
  const auto arguments = pointers(words);
  const auto environment = pointers(options.environment);
  const auto& folder = options.working_directory;
  const Child child{.program = (kept ? options.keeper : options.program).c_str(),
                    .folder = folder.empty() ? nullptr : folder.c_str(),
                    .arguments = arguments.data(),
                    .environment = environment.data(),
                    .standard = {in, out, err},
                    .report = report.get(),
                    .control = kept ? kept.get() : -1,
                    .observer = options.observer.get(),
                    .parent = ::getpid()};
  // No handler of ours may run in the child while the memory is shared.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  const pid_t pid = start(child);
  const int failed = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return std::unexpected(failed);
  report.reset();
  int error = 0;
  ssize_t n = 0;
  do {
    n = ::read(reports.get(), &error, sizeof error);
  } while (n < 0 && errno == EINTR);
  if (n == 0) return pid;  // closed by the exec
  ::waitpid(pid, nullptr, 0);
  return std::unexpected(error);
}

}  // namespace mcpac::mcp
