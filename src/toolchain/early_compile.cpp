#include "toolchain/early_compile.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpac::toolchain {
namespace {

// Readable when one of the two is: a wait takes one descriptor.
UniqueFd either(int first, int second) {
  UniqueFd both(::epoll_create1(EPOLL_CLOEXEC));
  for (const int descriptor : {first, second}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (descriptor >= 0 && both) ::epoll_ctl(both.get(), EPOLL_CTL_ADD, descriptor, &event);
  }
  return both;
}

}  // namespace

EarlyCompile::EarlyCompile(const BuildPlace& place, EntryPlace entry,
                           std::optional<WaitingBuild> waiting)
    : entry_(entry),
      cancel_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      stop_(either(place.stop.descriptor, cancel_.get())),
      built_(std::async(std::launch::async, [this, place, waiting = std::move(waiting)]() mutable {
        auto stoppable = place;
        stoppable.stop = StopSignal{stop_.get()};
        return compile_and_link(stoppable, entry_, std::move(waiting));
      })) {}

EarlyCompile::~EarlyCompile() {
  const std::uint64_t one = 1;
  // With nothing to be told by, the compiler ends by its own limits.
  [[maybe_unused]] const auto written = ::write(cancel_.get(), &one, sizeof one);
  if (built_.valid()) built_.wait();
}

Result<Built> EarlyCompile::take() {
  return built_.get();
}

}  // namespace mcpac::toolchain
