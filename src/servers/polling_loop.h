// SPDX-License-Identifier: Apache-2.0

// A polling loop: an event loop that looks a moment longer before it sleeps.
//
// A thread that sleeps is woken by an interrupt to another processor, which takes 15 to 45 µs on a
// virtual machine; a call through a gateway waits for that twice, and its work takes less. So
// after something happened the loop goes on looking, for as long as its waits of late were short.
// The measure is that of "halt polling" (Linux, Documentation/virt/kvm/halt-polling.rst): a sleep
// that a longer look would have saved lengthens the looking, a longer sleep ends it. What waits for
// a person, a compiler or a slow server costs one look, and the loop does not look while others
// want the processor.
#pragma once

#include <chrono>

#include <boost/asio/io_context.hpp>

namespace mcpac::servers {

// Polling time before the next sleep.
class LookingTime {
 public:
  using Duration = std::chrono::steady_clock::duration;

  [[nodiscard]] Duration now() const { return time_; }
  // The loop slept so long after it had looked in vain.
  void after_sleep(Duration slept);
  // One look took so long: another process has had the processor meanwhile.
  void after_look(Duration took);

 private:
  Duration time_{0};
};

// Runs `loop` on this thread until it is stopped or has no work, as `loop.run()` does, which it is
// where this process may use one processor only: looking would keep back who is waited for.
void run_polling(boost::asio::io_context& loop);

}  // namespace mcpac::servers
