// SPDX-License-Identifier: Apache-2.0

// Watch: reads a child's signals while it is stopped at them.
//
// When a process has ended its memory is gone, and with it where it crashed. So the warden traces
// its children as a debugger does, for signals only: no call is stopped, nothing is written, and
// every signal is passed on. That also shows the signals that the first process of a pid namespace
// never gets: a file that may not grow is only an error to it. Threads but the first are not
// watched, as each would cost two stops. The child offers itself (offer_watch), so that it stands
// still before the first instruction of its program. The kernel does not end the first process of
// a pid namespace for a fault of its own while it is traced: it is let go then, and faults again.
// But not at a breakpoint, which lies behind it: there the warden ends it, as the kernel would
// have. Where the kernel refuses that (Yama, a container), less is said and nothing else is
// different.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>

#include "sandbox/child_memory.h"
#include "sandbox/end_report.h"

namespace mcpac::sandbox {

// In the child, before its filter. 0 or errno, which is no reason to stop.
int offer_watch();

class Watch {
 public:
  // The child does not stop for itself when it is the first process of its pid namespace; a tracer
  // must not make it. Others outside may stop it and let it go on, as if it were not watched; what
  // comes after that is not seen.
  enum class Stops : std::uint8_t { kPassed, kWithheld };
  void begin(pid_t child, std::uint64_t stack_bytes, Stops stops);
  // The child stands still, as this status of wait(2) says: looks at it, and lets it go on.
  void on_stop(int status);

  [[nodiscard]] const Crash& crash() const { return crash_; }
  // No signal of its first thread was missed.
  [[nodiscard]] bool saw_all() const { return started_ && watching_; }
  [[nodiscard]] std::uint32_t file_size_refusals() const { return file_size_refusals_; }
  // Its end, as wait(2) has it, with this `status`: the breakpoint for a child ended by one.
  [[nodiscard]] int end_of(int status) const;

 private:
  enum class Then : std::uint8_t { kWatched, kAlone, kEnded };
  void let_go_on(int signal, Then then);
  [[nodiscard]] Then note(const siginfo_t& signal);
  [[nodiscard]] Stand stand_of(const ChildMemory& memory, std::uint64_t counter,
                               std::uint64_t stack);
  void note_crash(const siginfo_t& signal, const ChildMemory& memory);

  pid_t child_ = -1;
  bool started_ = false;
  bool watching_ = true;
  bool ended_at_trap_ = false;
  std::uint64_t stack_bytes_ = 0;
  Stops stops_ = Stops::kPassed;
  unsigned count_ = 0;
  unsigned looks_ = 0;
  std::uint32_t file_size_refusals_ = 0;
  Crash crash_;
};

}  // namespace mcpac::sandbox
