// SPDX-License-Identifier: Apache-2.0

#include "sandbox/running.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace mcpac::sandbox {
namespace {

void report_end(Running& child, int status, const rusage& usage) {
  const auto microseconds = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000U +
           static_cast<std::uint64_t>(time.tv_usec);
  };
  EndReport report;
  report.status = child.watch.end_of(status);
  report.violation = child.violation;
  report.crash = child.watch.crash();
  report.watched = child.watch.saw_all() ? 1 : 0;
  report.refusals.file_size = child.watch.file_size_refusals();
  report.stack_bytes = child.stack_bytes;
  report.most_processes = child.most_processes;
  report.held_memory = child.held_memory;
  report.held_threads = child.held_threads;
  report.cpu_microseconds = microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
  report.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024U;
  if (child.group) report.group = child.group->use();
  child.guard.reset();
  report.kept = child.kept;
  child.group.reset();  // who sees the end finds nothing left
  // Smaller than PIPE_BUF, so it is written whole; a host that has gone does not read it.
  if (::write(child.report.get(), &report, sizeof report) < 0) errno = 0;
  child.pid = -1;
}

}  // namespace

void reap(Running& child, int flags) {
  for (;;) {
    int status = 0;
    rusage usage{};
    const pid_t found = ::wait4(child.pid, &status, flags, &usage);
    if (found < 0 && errno == EINTR) continue;
    if (found != child.pid) return;
    if (!WIFSTOPPED(status)) return report_end(child, status, usage);
    child.watch.on_stop(status);
    // The next stop has a signal of its own: others get their turn before it.
    if ((flags & WNOHANG) != 0) return;
  }
}

}  // namespace mcpac::sandbox
