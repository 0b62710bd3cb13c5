// SPDX-License-Identifier: Apache-2.0

#include "servers/polling_loop.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace mcpac::servers {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// KVM's own numbers: halt_poll_ns and halt_poll_ns_grow_start.
constexpr LookingTime::Duration kLongest = microseconds(200);
constexpr LookingTime::Duration kFirst = microseconds(10);
// A look takes one or two.
constexpr LookingTime::Duration kInterrupted = microseconds(20);

bool has_one_processor() {
  cpu_set_t processors;
  return ::sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) < 2;
}

// Whether something came while it looked.
bool look(boost::asio::io_context& loop, LookingTime& time, Clock::time_point since) {
  for (auto looked = since; looked - since < time.now();) {
    if (loop.poll() > 0) return true;
    std::this_thread::yield();
    const auto now = Clock::now();
    time.after_look(now - looked);
    looked = now;
  }
  return false;
}

}  // namespace

void LookingTime::after_sleep(Duration slept) {
  time_ = slept > kLongest ? Duration::zero() : std::clamp(time_ * 2, kFirst, kLongest);
}

void LookingTime::after_look(Duration took) {
  if (took > kInterrupted) time_ = Duration::zero();
}

void run_polling(boost::asio::io_context& loop) {
  if (has_one_processor()) {
    loop.run();
    return;
  }
  LookingTime time;
  while (!loop.stopped()) {
    const auto idle = Clock::now();
    if (look(loop, time, idle)) continue;
    if (loop.run_one() == 0) return;
    time.after_sleep(Clock::now() - idle);
    loop.poll();  // what came with it, before the next look at the clock
  }
}

}  // namespace mcpac::servers
