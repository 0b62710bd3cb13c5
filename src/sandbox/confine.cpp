// SPDX-License-Identifier: Apache-2.0

#include "sandbox/confine.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "sandbox/capabilities.h"
#include "sandbox/cgroup_files.h"
#include "sandbox/descriptors.h"
#include "sandbox/landlock.h"
#include "sandbox/listener.h"
#include "sandbox/namespaces.h"
#include "sandbox/observe.h"
#include "sandbox/process.h"
#include "sandbox/rlimits.h"
#include "sandbox/root.h"
#include "sandbox/seccomp.h"
#include "sandbox/step.h"
#include "sandbox/watch.h"

namespace mcpac::sandbox {
namespace {

// The program starts with untouched signals; the warden ignores SIGPIPE, and posix_spawn
// leaves two ignored that libc keeps to itself. By the raw call, as libc's does not reach those.
void reset_signals() {
  struct KernelAction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  };
  constexpr int kLast = 64;
  const KernelAction standard{};
  for (int number = 1; number <= kLast; ++number)
    ::syscall(SYS_rt_sigaction, number, &standard, nullptr, sizeof standard.mask);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Changing ids clears the parent-death signal, so this is done twice. A warden that died before the
// first time is noticed by its end of the report socket being gone.
int die_with_warden(const Plan& plan, int report) {
  const int signal = plan.ends_by_request() ? kEndRequest : SIGKILL;
  if (::prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0) != 0) return errno;
  pollfd end{report, 0, 0};
  ::poll(&end, 1, 0);
  return (end.revents & (POLLERR | POLLHUP)) != 0 ? EPIPE : 0;
}

// The first to go when the machine runs out of memory. A kernel that does not let us is no reason
// to stop.
void volunteer_for_oom() {
  const UniqueFd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file && ::write(file.get(), "1000", 4) < 0) errno = 0;
}

int enter_root(const Plan& plan, std::uint16_t& item) {
  if (plan.own_root) {
    if (const int error = enter_own_root(plan, item)) return error;
  } else if (plan.empty_root) {
    if (const int error = enter_empty_root()) return error;
  }
  if (plan.program < 0) return 0;
  return ::chdir(plan.work_directory.c_str()) == 0 ? 0 : errno;
}

int join_group(const Confinement& from) {
  return from.joins_group ? cgroup::write(from.plan->group, "cgroup.procs", "0") : 0;
}

int begin(const Confinement& from) {
  ::close(from.report_reader);
  reset_signals();
  ::setsid();
  ::umask(022);
  return die_with_warden(*from.plan, from.report);
}

int enter_namespaces(const Confinement& from) {
  const Plan& plan = *from.plan;
  if (plan.identity == Identity::kUserNamespace) {
    if (const int error = map_ids(from.outer_user, from.outer_group)) return error;
    if (plan.admits.has<Serves>()) bound_watches();
  }
  // Not with the others (launch.cpp).
  const bool hides_group = plan.group >= 0 && (plan.namespace_flags & CLONE_NEWCGROUP) != 0;
  if (hides_group && ::unshare(CLONE_NEWCGROUP) != 0) return errno;
  if (plan.admits.has<Serves>() && (plan.namespace_flags & CLONE_NEWNET) != 0) {
    if (const int error = raise_loopback()) return error;
  }
  if (!plan.listens.empty()) {
    if (const int error = own_every_address()) return error;
    if (const int error = bind_listens(plan.listens, kFirstListening)) return error;
  }
  return (plan.namespace_flags & CLONE_NEWUTS) != 0 ? hide_host_name() : 0;
}

int take_identity(const Plan& plan) {
  if (const int error = drop_privileges(plan)) return error;
  return die_with_warden(plan, kReportDescriptor);
}

int enter_landlock(const Plan& plan) {
  if (!plan.ruleset) return 0;
  if (const int error = enter_ruleset(kRulesetDescriptor)) return error;
  if (::close(kRulesetDescriptor) != 0) return errno;
  if (!plan.ends_by_request()) return 0;
  // All that it may signal will be ended with it (keeper_main.cpp), so it is seen that others are
  // not among that: the warden, which is the same user.
  const long reached = ::syscall(SYS_kill, ::syscall(SYS_getppid), 0);
  return reached < 0 && errno == EPERM ? 0 : ENOTSUP;
}

// No trial has shown that filters work on this machine (presumed_machine()). Of no memory nothing
// is read, unless a filter answers.
int see_filter_answer() {
  const long answer = ::syscall(SYS_process_vm_readv, 0, nullptr, 0, nullptr, 0, 0);
  return answer < 0 && errno == EPERM ? 0 : ENOSYS;
}

int enter_filter(Plan& plan) {
  // Of many processes the crash of one is told by their parent.
  if (plan.program >= 0 && !plan.admits.has<Serves>() && offer_watch() != 0) errno = 0;
  if (plan.filter.empty()) return 0;
  if (plan.observer >= 0) {
    if (const int error = install_observing_filter(plan.observing)) return error;
  }
  set_own_process(plan.filter, static_cast<pid_t>(::syscall(SYS_getpid)));
  if (plan.listened) return install_listened_filter(plan.filter, kReportDescriptor);
  if (const int error = install_filter(plan.filter)) return error;
  return plan.admits.has<Serves>() ? see_filter_answer() : 0;
}

int start_program(Plan& plan) {
  if (plan.try_filter)
    ::syscall(SYS_keyctl, 0, 0, 0, 0, 0);  // outside every filter: must not return
  if (plan.program < 0) ::syscall(SYS_exit_group, 0);
  ::syscall(SYS_execveat, kProgramDescriptor, "", plan.arguments.data(), plan.environment.data(),
            AT_EMPTY_PATH);
  return errno;
}

// Not marked noreturn: before a call of such a function a sanitized warden asks for the limits of
// its stack, which the filter that stands by then takes for an attack.
void give_up(int report, const Failure& failure) {
  const auto* bytes = reinterpret_cast<const char*>(&failure);
  while (::syscall(SYS_write, report, bytes, sizeof failure) < 0 && errno == EINTR) {
  }
  ::syscall(SYS_exit_group, 127);
}

}  // namespace

// The order matters: mounts need capabilities, ids need them too, Landlock forbids mounts, and the
// filter forbids everything that came before it.
int confine(void* confinement) {
  const auto& from = *static_cast<const Confinement*>(confinement);
  Plan& plan = *from.plan;
  Failure failure;
  int report = from.report;
  const auto step = [&](Layer layer, int error) {
    if (error == 0) return;
    failure.layer = layer;
    failure.error = error;
    give_up(report, failure);
  };
  step(Layer::kLimits, join_group(from));
  step(Layer::kProcess, begin(from));
  step(Layer::kNamespaces, enter_namespaces(from));
  volunteer_for_oom();
  step(Layer::kRoot, enter_root(plan, failure.item));
  step(Layer::kDescriptors, arrange_descriptors(plan, report));
  report = kReportDescriptor;
  step(Layer::kLimits, set_limits(plan));
  step(Layer::kIdentity, take_identity(plan));
  ::umask(plan.new_file_mask);  // not before: the root is made for another id
  step(Layer::kLandlock, enter_landlock(plan));
  step(Layer::kSeccomp, enter_filter(plan));
  step(Layer::kProgram, start_program(plan));
  return 0;
}

}  // namespace mcpac::sandbox
