// SPDX-License-Identifier: Apache-2.0

#include "sandbox/seccomp_rules.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>

#include <cerrno>

#include "sandbox/plan.h"

namespace mcpac::sandbox {
namespace {

constexpr std::uint32_t kAllow = SCMP_ACT_ALLOW;
constexpr std::uint32_t refuse(int error) {
  return SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error));
}

scmp_arg_cmp equals(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, 0xffffffffU, value};
}
scmp_arg_cmp differs(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_NE, value, 0};
}
scmp_arg_cmp masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}
scmp_arg_cmp above(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_GT, value, 0};
}
scmp_arg_cmp at_most(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_LE, value, 0};
}

using Rules = std::vector<ArgumentRule>;

// Private memory only: shared anonymous memory escapes RLIMIT_DATA, and so does what grows as a
// stack does.
void memory_rules(Rules& rules, Admits admits) {
  if (admits.has<Compiles>()) {
    rules.push_back(
        {kAllow, SCMP_SYS(mmap), {}});  // lld writes its output through a shared mapping
  } else {
    rules.push_back({kAllow, SCMP_SYS(mmap), {masked(3, MAP_TYPE | MAP_GROWSDOWN, MAP_PRIVATE)}});
    rules.push_back({refuse(EPERM), SCMP_SYS(mmap), {masked(3, MAP_SHARED, MAP_SHARED)}});
    rules.push_back(
        {refuse(EPERM), SCMP_SYS(mmap), {masked(3, MAP_SHARED | MAP_GROWSDOWN, MAP_GROWSDOWN)}});
  }
  constexpr unsigned kHints[] = {MADV_NORMAL,   MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED,
                                 MADV_DONTNEED, MADV_FREE,   MADV_HUGEPAGE,   MADV_NOHUGEPAGE};
  constexpr unsigned kLastHint = 25;
  for (unsigned advice = 0; advice <= kLastHint; ++advice) {
    bool hint = false;
    for (const unsigned known : kHints) hint = hint || known == advice;
    rules.push_back({hint ? kAllow : refuse(EINVAL), SCMP_SYS(madvise), {equals(2, advice)}});
  }
}

// Threads, but no processes and no namespaces; plain futexes without priority inheritance.
void thread_rules(Rules& rules) {
  constexpr std::uint64_t kThread = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
  constexpr std::uint64_t kNever = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                   CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_VFORK |
                                   CLONE_PTRACE | CLONE_PARENT | CLONE_PIDFD | CLONE_IO;
  rules.push_back({kAllow, SCMP_SYS(clone), {masked(0, kThread | kNever, kThread)}});
  rules.push_back({refuse(EPERM), SCMP_SYS(clone), {masked(0, CLONE_THREAD, 0)}});
  constexpr std::uint64_t kOperation =
      0xffffffffU & ~(128U | 256U);  // without PRIVATE and CLOCK_REALTIME
  for (const unsigned plain : {0U, 1U, 3U, 4U, 5U, 9U, 10U}) {
    rules.push_back({kAllow, SCMP_SYS(futex), {masked(1, kOperation, plain)}});
  }
  for (const unsigned inheriting : {6U, 7U, 8U, 11U, 12U, 13U}) {
    rules.push_back({refuse(ENOSYS), SCMP_SYS(futex), {masked(1, kOperation, inheriting)}});
  }
}

// Ids above 11 are clocks of other processes and of devices.
void clock_rules(Rules& rules) {
  constexpr std::uint64_t kLastClock = 11;
  for (const int call :
       {SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep)}) {
    rules.push_back({kAllow, call, {at_most(0, kLastClock)}});
    rules.push_back({refuse(EINVAL), call, {above(0, kLastClock)}});
  }
}

void process_rules(Rules& rules) {
  for (const int call : {SCMP_SYS(kill), SCMP_SYS(tgkill)}) {
    rules.push_back({kAllow, call, {{0, SCMP_CMP_EQ, kOwnProcessMark, 0}}});
    rules.push_back({refuse(EPERM), call, {differs(0, kOwnProcessMark)}});
  }
  constexpr std::uint64_t kSetFs = 0x1002;
  rules.push_back({kAllow, SCMP_SYS(arch_prctl), {{0, SCMP_CMP_EQ, kSetFs, 0}}});
  rules.push_back({refuse(EINVAL), SCMP_SYS(arch_prctl), {differs(0, kSetFs)}});
  // Limits may be read, one's own only.
  rules.push_back({kAllow, SCMP_SYS(prlimit64), {{0, SCMP_CMP_EQ, 0, 0}, {2, SCMP_CMP_EQ, 0, 0}}});
  rules.push_back({refuse(EPERM), SCMP_SYS(prlimit64), {differs(2, 0)}});
  rules.push_back({refuse(EPERM), SCMP_SYS(prlimit64), {differs(0, 0), {2, SCMP_CMP_EQ, 0, 0}}});
  // Of others the answer says whether there is a process of that number.
  rules.push_back({kAllow, SCMP_SYS(sched_getaffinity), {{0, SCMP_CMP_EQ, 0, 0}}});
  rules.push_back({refuse(EPERM), SCMP_SYS(sched_getaffinity), {differs(0, 0)}});
  // The one exec that starts the program: its descriptor has a number that RLIMIT_NOFILE makes
  // impossible afterwards.
  rules.push_back({kAllow,
                   SCMP_SYS(execveat),
                   {{0, SCMP_CMP_EQ, kProgramDescriptor, 0}, {4, SCMP_CMP_EQ, AT_EMPTY_PATH, 0}}});
  rules.push_back({refuse(EPERM), SCMP_SYS(execveat), {differs(0, kProgramDescriptor)}});
}

void descriptor_rules(Rules& rules) {
  for (std::uint64_t command = 0; command <= 4; ++command) {
    const bool flags = command != F_DUPFD;
    rules.push_back({flags ? kAllow : refuse(EPERM), SCMP_SYS(fcntl), {equals(1, command)}});
  }
  rules.push_back({refuse(EPERM), SCMP_SYS(fcntl), {above(1, 4)}});
  // On a connected socket these are read and write; with an address they reach further, and with
  // other flags (urgent bytes, a look at what stays) parts of the kernel that have had holes.
  for (const int call : {SCMP_SYS(sendto), SCMP_SYS(recvfrom)}) {
    rules.push_back({kAllow, call, {masked(3, kOddSocketFlags, 0), {4, SCMP_CMP_EQ, 0, 0}}});
    rules.push_back({refuse(EPERM), call, {differs(4, 0)}});
  }
  // The listener's descriptor is handed over while the filter stands already (listener.cpp); the
  // program can have no descriptor of this number.
  rules.push_back({kAllow, SCMP_SYS(sendmsg), {{0, SCMP_CMP_EQ, kReportDescriptor, 0}}});
  rules.push_back({refuse(EPERM), SCMP_SYS(sendmsg), {differs(0, kReportDescriptor)}});
}

}  // namespace

std::vector<ArgumentRule> argument_rules(const FilterKey& key) {
  Rules rules;
  memory_rules(rules, key.admits);
  thread_rules(rules);
  clock_rules(rules);
  process_rules(rules);
  descriptor_rules(rules);
  return rules;
}

}  // namespace mcpac::sandbox
