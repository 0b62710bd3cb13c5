// SPDX-License-Identifier: Apache-2.0

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "sandbox/child_impl.h"
#include "sandbox/end_report.h"
#include "sandbox/judge.h"
#include "sandbox/process.h"

namespace mcpac::sandbox {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// For poll(2).
int milliseconds_until(std::optional<Clock::time_point> deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<milliseconds>(*deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, 3'600'000));
}

// False: the deadline came first.
bool wait_until(int fd, Clock::time_point deadline) {
  for (;;) {
    pollfd end{fd, POLLIN, 0};
    const int ready = ::poll(&end, 1, milliseconds_until(deadline));
    if (ready > 0) return true;
    if (ready == 0 && Clock::now() >= deadline) return false;
  }
}

// As long as it runs, and for its report some time more. Not for ever: a warden that was stopped
// writes none until it goes on.
bool ends_in_time(int report, int process, std::optional<Clock::time_point> deadline) {
  constexpr std::chrono::seconds kForReport{5};
  for (;;) {
    pollfd ends[] = {{report, POLLIN, 0}, {process, POLLIN, 0}};
    const int ready = ::poll(ends, 2, milliseconds_until(deadline));
    if (ready > 0 && ends[0].revents != 0) return true;
    if (ready > 0) return wait_until(report, Clock::now() + kForReport);
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
  has_ended_or_is_killed(impl_->process.get(), impl_->ends_by_request);
  ends_in_time(impl_->report.get(), impl_->process.get(), std::nullopt);
}

Tier Child::tier() const {
  return impl_->tier;
}
int Child::end_descriptor() const {
  return impl_->report.get();
}

void Child::restart_clock() {
  impl_->start = Clock::now();
}

void Child::kill(Verdict::Kind reason) {
  int none = -1;
  impl_->killed_for.compare_exchange_strong(none, static_cast<int>(reason));
  // ESRCH: it has ended by itself, which is as good.
  end_process(impl_->process.get(), impl_->ends_by_request);
}

Result<Verdict> Child::wait() {
  if (impl_->waited) return fail(ErrorId::kInternal, "a sandboxed child was waited for twice");
  std::optional<Clock::time_point> deadline;
  if (impl_->limits.wall.count() > 0) deadline = impl_->start + impl_->limits.wall;
  bool has_ended = ends_in_time(impl_->report.get(), impl_->process.get(), deadline);
  if (!has_ended) {
    kill(Verdict::Kind::kTimedOut);
    has_ended_or_is_killed(impl_->process.get(), impl_->ends_by_request);
    has_ended = ends_in_time(impl_->report.get(), impl_->process.get(), std::nullopt);
  }
  impl_->waited = true;
  const auto report = has_ended ? read_report(impl_->report.get()) : std::nullopt;
  if (!report) {
    return fail(ErrorId::kWardenFailed,
                "the sandbox's warden ended before its child, or does not answer",
                {.why = "the child died with it; how it would have ended is not known"});
  }
  const auto wall =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - impl_->start);
  return judge(*report, impl_->limits, wall, impl_->killed_for);
}

}  // namespace mcpac::sandbox
