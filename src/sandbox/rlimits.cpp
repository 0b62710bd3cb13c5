// SPDX-License-Identifier: Apache-2.0

#include "sandbox/rlimits.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace mcpac::sandbox {
namespace {

int limit(__rlimit_resource what, std::uint64_t value) {
  // Never above what the host itself may do: raising a hard limit fails, and should not matter.
  rlimit now{};
  if (::getrlimit(what, &now) != 0) return errno;
  const rlim_t wanted = value < now.rlim_max ? value : now.rlim_max;
  const rlimit both{wanted, wanted};
  return ::setrlimit(what, &both) == 0 ? 0 : errno;
}

// An agent cannot share memory (seccomp.cpp), so RLIMIT_DATA counts all that it allocates and
// leaves out reservations: a thread's malloc arena reserves 64 MiB that it never touches. RLIMIT_AS
// stands behind it with room for those. A compiler shares its output file, so it gets the plain
// one.
int limit_memory(const Plan& plan) {
  const std::uint64_t memory = plan.limits.memory;
  if (memory == 0) return 0;
  if (plan.admits.has<Compiles>()) return limit(RLIMIT_AS, memory);
  // Interpreters reserve far more than they touch (V8, Go, Java), some of it as data: a group or
  // the warden's look (held_memory.h) holds a server, and this what one process takes between two
  // looks.
  constexpr std::uint64_t kRoomOfServers = std::uint64_t{512} << 20U;
  if (plan.admits.has<Serves>()) return limit(RLIMIT_DATA, 2 * memory + kRoomOfServers);
  constexpr std::uint64_t kRoomForReservations = std::uint64_t{4} << 30U;
  if (const int error = limit(RLIMIT_DATA, memory)) return error;
  return limit(RLIMIT_AS, memory + kRoomForReservations);
}

}  // namespace

// The usual 8 MiB; clang follows the nesting of its source with recursion, so it gets more.
std::uint64_t stack_bytes(const Plan& plan) {
  const auto wanted = std::uint64_t{plan.admits.has<Compiles>() ? 64U : 8U} << 20U;
  rlimit ours{};
  return ::getrlimit(RLIMIT_STACK, &ours) == 0 ? std::min<std::uint64_t>(wanted, ours.rlim_max)
                                               : wanted;
}

int limit_file_size(const Plan& plan) {
  return limit(RLIMIT_FSIZE, plan.limits.file_size);
}

int set_limits(const Plan& plan) {
  const Limits& limits = plan.limits;
  // 1, not 0: the kernel pipes the memory of a dying process into a core_pattern program, run as
  // root, even at limit 0, and gives up at exactly 1.
  if (const int error = limit(RLIMIT_CORE, 1)) return error;
  if (const int error = limit(RLIMIT_STACK, stack_bytes(plan))) return error;
  if (const int error = limit(RLIMIT_MEMLOCK, 0)) return error;
  if (const int error = limit(RLIMIT_MSGQUEUE, 0)) return error;
  if (const int error = limit(RLIMIT_NICE, 0)) return error;
  if (const int error = limit(RLIMIT_RTPRIO, 0)) return error;
  if (const int error = limit_file_size(plan)) return error;
  if (const int error = limit(RLIMIT_NOFILE, limits.open_files)) return error;
  if (plan.count_processes) {
    // A group says how often it refused one, so it comes first.
    const std::uint64_t most = limits.processes + (plan.group >= 0 ? 1U : 0U);
    if (const int error = limit(RLIMIT_NPROC, most)) return error;
  }
  if (limits.cpu.count() > 0) {
    if (const int error = limit(RLIMIT_CPU, static_cast<std::uint64_t>(limits.cpu.count())))
      return error;
  }
  return limit_memory(plan);
}

}  // namespace mcpac::sandbox
