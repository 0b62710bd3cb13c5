// SPDX-License-Identifier: Apache-2.0

#include "sandbox/judge.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <string_view>

#include "sandbox/call_names.h"
#include "sandbox/name_guard.h"

namespace mcpac::sandbox {
namespace {

using Kind = Verdict::Kind;

std::uint64_t microseconds(std::chrono::microseconds time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
}

// The limit is enforced by timer ticks, rusage is measured: on a busy machine, where a tick counts
// whole for the process it meets, the limit has been seen to strike some way before the measured
// time. So a kill that is not ours, with most of the limit used, is taken for the limit.
bool cpu_ran_out(const EndReport& report, std::chrono::seconds limit) {
  return limit.count() > 0 && report.cpu_microseconds >= microseconds(limit) / 4U * 3U;
}

// The kernel refuses memory, and a program then gives up in its own way: by an uncaught exception,
// a crash, an exit code. What is left of the limit tells.
bool memory_ran_out(const EndReport& report, const Limits& limits) {
  return limits.memory > 0 && report.peak_bytes >= limits.memory / 8U * 7U;
}

void take_stand(const Stand& stand, Verdict& verdict) {
  const auto count = std::min<std::size_t>(stand.frame_count, stand.frames.size());
  verdict.frames.assign(stand.frames.begin(),
                        stand.frames.begin() + static_cast<std::ptrdiff_t>(count));
  verdict.entry = stand.entry;
}

void name_call(const Violation& violation, Verdict& verdict) {
  verdict.kind = Kind::kViolated;
  verdict.code = SIGSYS;
  if (violation.call < 0) {
    verdict.detail =
        "a system call that the sandbox does not admit; the kernel's log has its number "
        "(audit type=1326), the sandbox does not";
    return;
  }
  verdict.call_number = violation.call;
  verdict.call = name_of_call(violation.call);
  take_stand(violation.stand, verdict);
  const std::string_view path(violation.path.data(), violation.path.size());
  verdict.path = path.substr(0, path.find('\0'));
  verdict.detail = "system call " + std::to_string(violation.call) +
                   (verdict.call.empty() ? "" : " (" + verdict.call + ")");
}

void judge_kill(Kind reason, const Limits& limits, std::chrono::microseconds wall,
                Verdict& verdict) {
  verdict.kind = reason;
  if (reason != Kind::kTimedOut) return;
  verdict.limit = {{"wall", microseconds(limits.wall), microseconds(wall)}};
  verdict.detail = "the wall-clock limit of " + std::to_string(limits.wall.count()) + " ms";
}

// The warden ends a process that holds too much. The kernel ends one in a group for two reasons:
// the group is full, or a group above it or the machine is, and this process was chosen for that.
bool memory_ended_it(const EndReport& report, const Verdict& verdict) {
  return verdict.code == SIGKILL && (report.group.killed > 0 || report.held_memory > 0);
}

void judge_memory_kill(const EndReport& report, const Limits& limits, Verdict& verdict) {
  verdict.kind = Kind::kSignalled;
  if (report.group.full == 0 && report.held_memory == 0) {
    verdict.note = "as the machine, or a control group around mcpac, had no memory left";
    return;
  }
  const std::uint64_t used =
      std::max({report.group.peak_bytes, report.peak_bytes, report.held_memory});
  verdict.kind = Kind::kMemoryLimit;
  verdict.limit = {{"memory", limits.memory, used}};
  verdict.detail = "the memory limit of " + std::to_string(limits.memory >> 20U) + " MiB";
}

void judge_threads_kill(const EndReport& report, Verdict& verdict) {
  verdict.kind = Kind::kSignalled;
  verdict.limit = {{"processes", report.most_processes, report.held_threads}};
  verdict.detail = "it had " + std::to_string(report.held_threads) + " threads, and may have " +
                   std::to_string(report.most_processes);
}

bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
         signal == SIGABRT;
}

// Only the first thread is watched; a signal that it did not get was another's.
void judge_other_thread(Verdict& verdict) {
  verdict.note = "in another thread than its first";
  if (verdict.code == SIGSEGV) verdict.detail = "invalid memory access, or abort()";
  if (verdict.code == SIGABRT) verdict.detail = "abort()";
}

void judge_crash(const EndReport& report, Verdict& verdict) {
  const Crash& crash = report.crash;
  take_stand(crash.stand, verdict);
  if (crash.stack_needed > 0) {
    verdict.limit = {{"stack", report.stack_bytes, crash.stack_needed}};
    verdict.detail = "stack overflow: " + std::to_string(report.stack_bytes >> 20U) + " MiB stack";
  } else if (crash.aborted != 0) {
    verdict.detail = "abort()";
  } else if (crash.signal == SIGSEGV) {
    verdict.detail = "invalid memory access";
  }
}

void judge_signal(const EndReport& report, const Limits& limits, Verdict& verdict) {
  const int signal = verdict.code;
  verdict.kind = Kind::kSignalled;
  if ((signal == SIGKILL || signal == SIGXCPU) && cpu_ran_out(report, limits.cpu)) {
    verdict.kind = Kind::kCpuLimit;
    verdict.limit = {{"cpu", microseconds(limits.cpu), report.cpu_microseconds}};
    verdict.detail = "the CPU limit of " + std::to_string(limits.cpu.count()) + " s";
  } else if (signal == SIGXFSZ && limits.file_size > 0) {
    verdict.limit = {{"file-size", limits.file_size, limits.file_size}};
    verdict.detail = "the limit of " + std::to_string(limits.file_size) + " bytes a file";
  } else if (signal == report.crash.signal) {
    judge_crash(report, verdict);
  } else if (is_crash(signal) && report.watched != 0) {
    judge_other_thread(verdict);
  } else if (signal == SIGSEGV) {
    verdict.detail =
        "invalid memory access, or abort(): the first process of a pid namespace ends so, too";
  }
}

// Refusals of a program that then gave up, or went on without.
void judge_refusals(const EndReport& report, const Limits& limits, Verdict& verdict) {
  if (verdict.limit || verdict.kind == Kind::kViolated) return;
  const bool crashed = verdict.kind == Kind::kSignalled && verdict.code == report.crash.signal;
  const bool all_processes =
      report.most_processes > 0 && report.crash.threads >= report.most_processes;
  // Without files there was nothing to refuse: the program sent itself the signal.
  if (report.refusals.file_size > 0 && limits.file_size > 0) {
    verdict.limit = {{"file-size", limits.file_size, limits.file_size}};
    verdict.detail = "the limit of " + std::to_string(limits.file_size) + " bytes a file";
  } else if ((crashed && all_processes) || report.group.refused_threads > 0) {
    verdict.limit = {{"processes", report.most_processes, report.most_processes}};
    verdict.detail = "it had all of the " + std::to_string(report.most_processes) + " threads";
  }
}

void judge_memory(const EndReport& report, const Limits& limits, Verdict& verdict) {
  const bool failed =
      verdict.kind == Kind::kSignalled || (verdict.kind == Kind::kExited && verdict.code != 0);
  if (!failed || verdict.limit || !memory_ran_out(report, limits)) return;
  verdict.limit = {{"memory", limits.memory, report.peak_bytes}};
  verdict.detail = "it had " + std::to_string(report.peak_bytes >> 20U) + " of " +
                   std::to_string(limits.memory >> 20U) + " MiB of memory";
}

}  // namespace

Verdict judge(const EndReport& report, const Limits& limits, std::chrono::microseconds wall,
              int killed_for) {
  Verdict verdict;
  verdict.wall = wall;
  verdict.peak_memory = report.peak_bytes;
  const std::string_view kept(report.kept.path.data(), report.kept.path.size());
  verdict.kept_refusals = report.kept.refusals;
  verdict.kept_path = kept.substr(0, kept.find('\0'));
  const bool signalled = WIFSIGNALED(report.status);
  verdict.code = signalled ? WTERMSIG(report.status) : WEXITSTATUS(report.status);
  if (report.violation.happened != 0 || (signalled && verdict.code == SIGSYS)) {
    name_call(report.violation, verdict);
  } else if (signalled && memory_ended_it(report, verdict)) {
    judge_memory_kill(report, limits, verdict);
  } else if (signalled && verdict.code == SIGKILL && report.held_threads > 0) {
    judge_threads_kill(report, verdict);
  } else if (signalled && report.kept.out_of_patience != 0) {
    constexpr std::chrono::microseconds kPatience = std::chrono::seconds(kGuardPatience);
    verdict.kind = Kind::kSignalled;
    verdict.limit = {{"file-wait", microseconds(kPatience), microseconds(kPatience)}};
    verdict.note =
        "as a file system did not answer its call for " + std::to_string(kGuardPatience) + " s";
  } else if (signalled && verdict.code == SIGKILL && killed_for >= 0) {
    judge_kill(static_cast<Kind>(killed_for), limits, wall, verdict);
  } else if (signalled) {
    judge_signal(report, limits, verdict);
  }
  judge_refusals(report, limits, verdict);
  judge_memory(report, limits, verdict);
  return verdict;
}

}  // namespace mcpac::sandbox
