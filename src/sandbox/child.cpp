#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "sandbox/child_impl.h"
#include "sandbox/process.h"
#include "sandbox/protocol.h"

namespace mcpac::sandbox {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Until the end of the child or the deadline; false: the deadline.
bool wait_until(int fd, std::optional<Clock::time_point> deadline) {
  for (;;) {
    int timeout = -1;
    if (deadline) {
      const auto left = std::chrono::ceil<milliseconds>(*deadline - Clock::now()).count();
      timeout = static_cast<int>(std::clamp<long>(left, 0, 3'600'000));
    }
    pollfd end{fd, POLLIN, 0};
    const int ready = ::poll(&end, 1, timeout);
    if (ready > 0) return true;
    if (ready == 0 && deadline && Clock::now() >= *deadline) return false;
  }
}

std::optional<EndReport> read_report(int fd) {
  EndReport report;
  ssize_t size = 0;
  do {
    size = ::read(fd, &report, sizeof report);
  } while (size < 0 && errno == EINTR);
  if (size != sizeof report || report.version != EndReport{}.version) return std::nullopt;
  return report;
}

// The limit is enforced by timer ticks, rusage is measured: on a busy machine, where a tick counts
// whole for whoever it meets, the limit has been seen to strike some way before the measured time.
// So a kill that is not ours, with most of the limit used, is taken for the limit.
bool cpu_ran_out(const EndReport& report, std::chrono::seconds limit) {
  const auto allowed = static_cast<std::uint64_t>(limit.count()) * 1'000'000U;
  return limit.count() > 0 && report.cpu_microseconds >= allowed / 4U * 3U;
}

Verdict judge_signal(int signal, const EndReport& report, const Limits& limits, int killed_for) {
  Verdict verdict;
  verdict.code = signal;
  verdict.kind = Verdict::Kind::kSignalled;
  if (signal == SIGSYS) {
    verdict.kind = Verdict::Kind::kViolated;
    verdict.detail =
        "a system call that the sandbox does not admit; the kernel's log has its number "
        "(audit type=1326), the sandbox does not";
  } else if (signal == SIGKILL && killed_for >= 0) {
    verdict.kind = static_cast<Verdict::Kind>(killed_for);
    if (verdict.kind == Verdict::Kind::kTimedOut) {
      verdict.detail = "the wall-clock limit of " + std::to_string(limits.wall.count()) + " ms";
    }
  } else if ((signal == SIGKILL || signal == SIGXCPU) && cpu_ran_out(report, limits.cpu)) {
    verdict.kind = Verdict::Kind::kCpuLimit;
    verdict.detail = "the CPU limit of " + std::to_string(limits.cpu.count()) + " s";
  } else if (signal == SIGSEGV) {
    verdict.detail =
        "invalid memory access, or abort(): the first process of a pid namespace ends so, too";
  }
  return verdict;
}

Verdict judge(const EndReport& report, const Limits& limits, int killed_for) {
  Verdict verdict;
  if (WIFEXITED(report.status)) {
    verdict.code = WEXITSTATUS(report.status);
  } else {
    verdict = judge_signal(WTERMSIG(report.status), report, limits, killed_for);
  }
  verdict.peak_memory = report.peak_bytes;
  return verdict;
}

}  // namespace

Child::Child(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Child::Child(Child&&) noexcept = default;

// The child that is overwritten ends first, as it would by destruction.
Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    const Child ending(std::move(impl_));
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Child::~Child() {
  if (!impl_ || impl_->waited) return;
  kill(Verdict::Kind::kKilled);
  wait_until(impl_->report.get(), std::nullopt);
}

Tier Child::tier() const {
  return impl_->tier;
}
int Child::end_descriptor() const {
  return impl_->report.get();
}

void Child::kill(Verdict::Kind reason) {
  int none = -1;
  impl_->killed_for.compare_exchange_strong(none, static_cast<int>(reason));
  // ESRCH: it has ended by itself, which is as good.
  send_signal(impl_->process.get(), SIGKILL);
}

Result<Verdict> Child::wait() {
  if (impl_->waited) return fail(ErrorId::kInternal, "a sandboxed child was waited for twice");
  std::optional<Clock::time_point> deadline;
  if (impl_->limits.wall.count() > 0) deadline = impl_->start + impl_->limits.wall;
  if (!wait_until(impl_->report.get(), deadline)) {
    kill(Verdict::Kind::kTimedOut);
    wait_until(impl_->report.get(), std::nullopt);
  }
  impl_->waited = true;
  const auto report = read_report(impl_->report.get());
  if (!report) {
    return fail(ErrorId::kWardenFailed, "the sandbox's warden ended before its child",
                {.why = "the child died with it; how it would have ended is not known"});
  }
  Verdict verdict = judge(*report, impl_->limits, impl_->killed_for);
  verdict.wall = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - impl_->start);
  return verdict;
}

}  // namespace mcpac::sandbox
