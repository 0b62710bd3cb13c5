// SPDX-License-Identifier: Apache-2.0

#include "sandbox/watch.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sandbox/look.h"

namespace mcpac::sandbox {
namespace {

// A program that signals itself without an end keeps only itself busy: it is let go.
constexpr unsigned kMostSignals = 64;
constexpr unsigned kMostLooks = 8;

// A function's first access to its frame may lie this far below its stack pointer, or anywhere
// above.
constexpr std::uint64_t kReachBelow = std::uint64_t{64} << 10U;
// Arguments and environment lie between the end of the mapping and where the stack begins.
constexpr std::uint64_t kArguments = std::uint64_t{512} << 10U;
// The largest frame that is still taken for one; pointers that are wrong lie farther away.
constexpr std::uint64_t kLargestFrame = std::uint64_t{1} << 30U;

bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
         signal == SIGABRT;
}

// Size that the stack would need. 0: it has not run out, as the access was elsewhere, or where the
// kernel would have made it grow.
std::uint64_t stack_needed(std::uint64_t accessed, std::uint64_t stack_pointer,
                           std::uint64_t stack_begin, std::uint64_t allowed) {
  if (accessed >= stack_begin || accessed + kReachBelow < stack_pointer) return 0;
  const std::uint64_t needed = stack_begin - accessed;
  const bool beyond = needed + kArguments > allowed && needed < allowed + kLargestFrame;
  return beyond ? needed : 0;
}

}  // namespace

int offer_watch() {
  return ::syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0) == 0 ? 0 : errno;
}

void Watch::begin(pid_t child, std::uint64_t stack_bytes, Stops stops) {
  child_ = child;
  stack_bytes_ = stack_bytes;
  stops_ = stops;
}

void Watch::on_stop(int status) {
  const int signal = WSTOPSIG(status);
  if (signal == SIGTRAP && !std::exchange(started_, true)) {
    // The start of its program, which the kernel says so.
    constexpr std::uintptr_t kOptions = PTRACE_O_EXITKILL;
    ::ptrace(PTRACE_SETOPTIONS, child_, nullptr, kOptions);
    return let_go_on(0, Then::kWatched);
  }
  siginfo_t info{};
  if (::ptrace(PTRACE_GETSIGINFO, child_, nullptr, &info) != 0) {
    // No signal is on its way: it has stopped, as one told it to, and stays so until it is told to
    // go on, which a traced process does not hear. Or it is gone.
    if (errno == EINVAL) let_go_on(0, Then::kAlone);
    return;
  }
  const Then then = note(info);
  if (then == Then::kEnded) {
    ended_at_trap_ = true;
    ::kill(child_, SIGKILL);  // ours to wait for, so the number is not reused
    return;
  }
  // A sender outside of its pid namespace has no number in there.
  const bool own_stop = signal == SIGSTOP && info.si_pid != 0;
  let_go_on(stops_ == Stops::kWithheld && own_stop ? 0 : signal, then);
}

int Watch::end_of(int status) const {
  const bool by_us = ended_at_trap_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  return by_us ? SIGTRAP : status;
}

void Watch::let_go_on(int signal, Then then) {
  const bool watched = then == Then::kWatched && ++count_ < kMostSignals;
  watching_ = watched;
  const auto request = watched ? PTRACE_CONT : PTRACE_DETACH;
  ::ptrace(request, child_, nullptr, static_cast<std::uintptr_t>(signal));
}

Watch::Then Watch::note(const siginfo_t& signal) {
  if (signal.si_signo == SIGXFSZ) ++file_size_refusals_;
  const bool faulted = signal.si_code > 0;  // and was not sent
  const bool trap = faulted && signal.si_signo == SIGTRAP;
  if (!trap && !is_crash(signal.si_signo)) return Then::kWatched;
  const ChildMemory memory(child_);
  if (trap) {
    if (stops_ == Stops::kPassed || memory.catches(SIGTRAP)) return Then::kAlone;
    note_crash(signal, memory);
    return Then::kEnded;
  }
  if (memory.catches(signal.si_signo)) return Then::kWatched;
  note_crash(signal, memory);
  return faulted ? Then::kAlone : Then::kWatched;
}

// One unanswered look is enough, and a program that means it crashes once.
Stand Watch::stand_of(const ChildMemory& memory, std::uint64_t counter, std::uint64_t stack) {
  if (looks_ == kMostLooks) return {.frame_count = 1, .frames = {counter}};
  const Sight sight = look_at(memory, counter, stack);
  looks_ = sight.came ? looks_ + 1 : kMostLooks;
  return sight.stand;
}

void Watch::note_crash(const siginfo_t& signal, const ChildMemory& memory) {
  user_regs_struct registers{};
  if (::ptrace(PTRACE_GETREGS, child_, nullptr, &registers) != 0) return;
  const bool fault = signal.si_signo == SIGSEGV;
  // What abort() does where its signal has no effect is an instruction that is not allowed.
  const bool gave_up = fault && signal.si_code == SI_KERNEL && crash_.signal == SIGABRT;
  Crash crash;
  crash.signal = signal.si_signo;
  crash.aborted = gave_up || signal.si_signo == SIGABRT ? 1 : 0;
  if (const auto numbers = memory.numbers()) {
    crash.threads = numbers->threads;
    if (fault && (signal.si_code == SEGV_MAPERR || signal.si_code == SEGV_ACCERR)) {
      crash.stack_needed = stack_needed(reinterpret_cast<std::uintptr_t>(signal.si_addr),
                                        registers.rsp, numbers->stack_begin, stack_bytes_);
    }
  }
  crash.stand = stand_of(memory, registers.rip, registers.rsp);
  crash_ = crash;
}

}  // namespace mcpac::sandbox
