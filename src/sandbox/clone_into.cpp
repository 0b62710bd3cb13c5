// SPDX-License-Identifier: Apache-2.0

#include "sandbox/clone_into.h"

#include <linux/sched.h>
#include <sys/syscall.h>

#include <cerrno>
#include <csignal>

namespace mcpac::sandbox {

#if defined(__x86_64__)

// The child has a stack of its own, so it must not return from here: it calls its entry, and ends
// with what that says.
pid_t clone_into(const IntoGroup& how, int (*entry)(void*), void* argument) {
  clone_args arguments{};
  arguments.flags = how.flags | CLONE_PIDFD | CLONE_INTO_CGROUP;
  arguments.pidfd = reinterpret_cast<std::uintptr_t>(how.process);
  arguments.exit_signal = SIGCHLD;
  arguments.stack = reinterpret_cast<std::uintptr_t>(how.stack.data());
  arguments.stack_size = how.stack.size();
  arguments.cgroup = static_cast<std::uint64_t>(how.group);
  register auto function asm("r8") = entry;
  register auto* given asm("r9") = argument;
  long result = SYS_clone3;
  asm volatile(
      "syscall\n\t"
      "testq %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xorl %%ebp, %%ebp\n\t"
      "movq %%r9, %%rdi\n\t"
      "callq *%%r8\n\t"
      "movl %%eax, %%edi\n\t"
      "movl %[exit], %%eax\n\t"
      "syscall\n\t"
      "ud2\n"
      "1:"
      : "+a"(result)
      : "D"(&arguments), "S"(sizeof arguments), "r"(function), "r"(given), [exit] "i"(SYS_exit)
      : "rcx", "r11", "cc", "memory");
  if (result >= 0) return static_cast<pid_t>(result);
  errno = static_cast<int>(-result);
  return -1;
}

#else

pid_t clone_into(const IntoGroup&, int (*)(void*), void*) {
  errno = ENOSYS;
  return -1;
}

#endif

}  // namespace mcpac::sandbox
