// SPDX-License-Identifier: Apache-2.0

#include "run/kill_switch.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <tuple>

namespace mcpac::run {

// An epoll descriptor is readable when one of those in it is: two reasons to stop look like one.
Result<KillSwitch> KillSwitch::beside(StopSignal outer) {
  KillSwitch made;
  made.event_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  made.either_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  const auto watch = [&made](int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    return ::epoll_ctl(made.either_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
  };
  if (!made.event_ || !made.either_ || !watch(made.event_.get()) ||
      (outer.descriptor >= 0 && !watch(outer.descriptor)))
    return fail(ErrorId::kInternal, "cannot make the switch that ends a run");
  return made;
}

void KillSwitch::pull() const {
  const std::uint64_t one = 1;
  std::ignore = ::write(event_.get(), &one, sizeof one);
}

bool KillSwitch::was_pulled() const {
  pollfd ready{event_.get(), POLLIN, 0};
  return ::poll(&ready, 1, 0) > 0;
}

}  // namespace mcpac::run
