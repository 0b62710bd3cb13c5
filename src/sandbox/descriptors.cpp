// SPDX-License-Identifier: Apache-2.0

#include "sandbox/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sandbox/observe.h"

namespace mcpac::sandbox {
namespace {

int place(int from, int to, int flags) {
  return ::dup3(from, to, flags) < 0 ? errno : 0;
}

}  // namespace

int null_descriptor() {
  static const UniqueFd null = [] {
    const UniqueFd any(::open("/dev/null", O_RDWR | O_CLOEXEC));
    return UniqueFd(::fcntl(any.get(), F_DUPFD_CLOEXEC, 4));
  }();
  return null.get();
}

// The warden's own descriptors 0 to 3 are never sources, so no dup3 overwrites one still needed.
int arrange_descriptors(const Plan& plan, int report) {
  if (const int error = place(report, kReportDescriptor, O_CLOEXEC)) return error;
  if (plan.program >= 0) {
    if (const int error = place(plan.program, kProgramDescriptor, O_CLOEXEC)) return error;
  } else {
    ::close(kProgramDescriptor);
  }
  if (plan.ruleset) {
    if (const int error = place(plan.ruleset.get(), kRulesetDescriptor, O_CLOEXEC)) return error;
  }
  if (plan.observer >= 0) {
    if (const int error = place(plan.observer, kObserverDescriptor, O_CLOEXEC)) return error;
  } else {
    ::close(kObserverDescriptor);
  }
  if (const int error = place(plan.standard_input, 0, 0)) return error;
  if (const int error = place(plan.standard_output, 1, 0)) return error;
  if (const int error = place(plan.standard_error, 2, 0)) return error;
  if (plan.channel >= 0) {
    if (const int error = place(plan.channel, 3, 0)) return error;
  } else {
    ::close(3);
  }
  // Not before: what the others were made of may have had these numbers.
  const int listens = static_cast<int>(plan.listens.size());
  for (int i = 0; i < listens; ++i) {
    if (const int error = place(kFirstListening + i, 4 + i, 0)) return error;
  }
  if (::close_range(4 + static_cast<unsigned>(listens), kProgramDescriptor - 1, 0) != 0)
    return errno;
  if (::close_range(kObserverDescriptor + 1, ~0U, 0) != 0) return errno;
  return 0;
}

void close_all_but(std::vector<int> kept) {
  std::ranges::sort(kept);
  unsigned next = 0;
  for (const int fd : kept) {
    if (fd < 0) continue;
    const auto number = static_cast<unsigned>(fd);
    if (number > next) ::close_range(next, number - 1, 0);
    next = number + 1;
  }
  ::close_range(next, ~0U, 0);
}

}  // namespace mcpac::sandbox
