// SPDX-License-Identifier: Apache-2.0

#include "sandbox/machine.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <map>
#include <string>

#include "sandbox/landlock.h"
#include "sandbox/namespaces.h"
#include "sandbox/trial.h"
#include "sandbox/watch.h"

namespace mcpac::sandbox {
namespace {

Trial try_namespaces(Identity identity, int flags, bool own_root) {
  Plan plan = trial_plan();
  plan.identity = identity;
  plan.namespace_flags = flags | (identity == Identity::kUserNamespace ? CLONE_NEWUSER : 0);
  plan.own_root = own_root;
  return try_out(plan);
}

// A root that may not make namespaces can still have ids of its own and an empty folder for a root.
bool can_change_ids() {
  Plan plan = trial_plan();
  plan.identity = Identity::kOwnId;
  plan.empty_root = true;
  return try_out(plan).works();
}

void explore_namespaces(Machine& machine) {
  const bool root = ::geteuid() == 0;
  const int flags = all_namespaces();
  // Root first tries without a user namespace: in one its number would still be 0 to the kernel,
  // and RLIMIT_NPROC would not count.
  if (root && try_namespaces(Identity::kOwnId, flags, true).works()) {
    machine.namespaces = true;
    machine.identity = Identity::kOwnId;
    return;
  }
  const Trial trial = try_namespaces(Identity::kUserNamespace, flags, true);
  machine.namespaces = trial.works();
  if (machine.namespaces) {
    machine.identity = Identity::kUserNamespace;
    return;
  }
  machine.namespaces_failed = trial.failure;
  machine.identity = root && can_change_ids() ? Identity::kOwnId : Identity::kKeep;
}

void explore_landlock(Machine& machine) {
  const int abi = landlock_abi();
  if (abi == 0) {
    machine.landlock_error = errno;
    return;
  }
  Plan plan = trial_plan();
  plan.ruleset = make_ruleset({}, -1, abi);
  machine.landlock_error = plan.ruleset ? try_out(plan).failure.error : errno;
  if (machine.landlock_error == 0) machine.landlock_abi = abi;
}

// One call that no trial makes but to try this has the answer; all others pass. Written by hand:
// what the kernel can is seen by four steps as by those of a program, and libseccomp takes
// milliseconds.
std::vector<sock_filter> filter_of_trial(std::uint32_t answer) {
  return {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_keyctl, 0, 1), BPF_STMT(BPF_RET | BPF_K, answer),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
}

// The filter works when a forbidden call ends the trial.
void explore_filter(Machine& machine) {
  Plan plan = trial_plan();
  plan.filter = filter_of_trial(SECCOMP_RET_KILL_PROCESS);
  plan.try_filter = true;
  const Trial trial = try_out(plan);
  machine.filter = WIFSIGNALED(trial.status) && WTERMSIG(trial.status) == SIGSYS;
  machine.filter_error = machine.filter ? 0 : trial.failure.error;
}

// Not inside a container whose own filter has a listener: the kernel admits one.
void explore_listener(Machine& machine) {
  Plan plan = trial_plan();
  plan.filter = filter_of_trial(SECCOMP_RET_USER_NOTIF);
  plan.listened = true;
  const Trial trial = try_out(plan);
  machine.listener = trial.works() && trial.listener;
  machine.listener_error = trial.failure.error;
}

}  // namespace

std::optional<Tier> Machine::tier() const {
  if (!filter) return std::nullopt;
  if (landlock_abi == 0) return Tier::kC;
  return namespaces ? Tier::kA : Tier::kB;
}

std::optional<Machine> presumed_machine() {
  Machine machine;
  machine.landlock_abi = landlock_abi();
  if (machine.landlock_abi == 0) return std::nullopt;
  machine.namespaces = true;
  machine.identity = ::geteuid() == 0 ? Identity::kOwnId : Identity::kUserNamespace;
  machine.filter = true;
  return machine;
}

Machine explore_machine() {
  Machine machine;
  explore_namespaces(machine);
  explore_landlock(machine);
  explore_filter(machine);
  if (machine.filter) explore_listener(machine);
  return machine;
}

namespace {

std::string layer_and_error(const Failure& failure) {
  return std::string(to_string(failure.layer)) + ": " + error_text(failure);
}

std::string failure_of(const Trial& trial) {
  return trial.failure.layer == Layer::kNone ? "the trial died" : layer_and_error(trial.failure);
}

// By the errno, since each has another cause.
std::string remedy_for_namespaces(const Failure& failure) {
  if (failure.error == ENOSPC || failure.error == EUSERS)
    return "sysctl -w user.max_user_namespaces=15000, or whichever of user.max_*_namespaces is low";
  if (failure.error == ENOSYS || failure.error == EINVAL)
    return "a kernel with namespaces (CONFIG_NAMESPACES, CONFIG_USER_NS)";
  return "in a container: a seccomp profile that allows clone and unshare (Docker: --security-opt "
         "seccomp=unconfined has no filter at all); Ubuntu 24.04: an AppArmor profile with "
         "\"userns,\" for mcpac-warden; else sysctl kernel.unprivileged_userns_clone=1";
}

constexpr const char* kMountRemedy =
    "Docker: --cap-add SYS_ADMIN, or a profile that allows mount, pivot_root and open_tree; Ubuntu "
    "24.04: an AppArmor profile with \"userns,\" for mcpac-warden";

// Each kind by itself; those that fail for the same reason are one problem.
void describe_namespaces(const Machine& machine, Probe& probe) {
  const Identity way = machine.namespaces ? machine.identity : Identity::kUserNamespace;
  struct Kind {
    const char* name;
    Identity way;
    int flag;
    bool own_root;
  };
  const Kind kinds[] = {{"user namespaces", Identity::kUserNamespace, 0, false},
                        {"mount namespace with a root of its own", way, CLONE_NEWNS, true},
                        {"network namespace", way, CLONE_NEWNET, false},
                        {"pid namespace", way, CLONE_NEWPID, false},
                        {"ipc namespace", way, CLONE_NEWIPC, false},
                        {"uts namespace", way, CLONE_NEWUTS, false},
                        {"cgroup namespace", way, CLONE_NEWCGROUP, false}};
  std::map<std::string, std::size_t> told;  // reason -> its capability
  for (const Kind& kind : kinds) {
    const Trial trial = try_namespaces(kind.way, kind.flag, kind.own_root);
    if (trial.works()) {
      probe.capabilities.push_back({kind.name, true, {}, {}});
      continue;
    }
    const std::string reason = failure_of(trial);
    const auto [at, is_new] = told.try_emplace(reason, probe.capabilities.size());
    if (!is_new) {
      probe.capabilities[at->second].name += std::string(", ") + kind.name;
      continue;
    }
    const bool is_mounts = trial.failure.layer == Layer::kRoot;
    probe.capabilities.push_back(
        {kind.name, false, reason,
         is_mounts ? std::string(kMountRemedy) : remedy_for_namespaces(trial.failure)});
  }
}

Capability describe_landlock(const Machine& machine) {
  if (machine.landlock_abi > 0)
    return {"landlock", true, "ABI " + std::to_string(machine.landlock_abi), {}};
  return {"landlock", false,
          layer_and_error({.layer = Layer::kLandlock, .error = machine.landlock_error}),
          "a kernel from 5.13 on with landlock in the lsm= list; Docker: a profile that knows "
          "landlock_*"};
}

Capability describe_filter(const Machine& machine) {
  if (machine.filter) return {"seccomp", true, "a forbidden call ends the process", {}};
  return {"seccomp", false,
          layer_and_error({.layer = Layer::kSeccomp, .error = machine.filter_error}),
          "a kernel with CONFIG_SECCOMP_FILTER; there is no sandbox without it"};
}

// Without it nothing is weaker: the kernel kills, and only the name of the call is missing.
Capability describe_listener(const Machine& machine) {
  if (machine.listener) return {"seccomp listener", true, "a forbidden call is named", {}};
  return {"seccomp listener", false,
          layer_and_error({.layer = Layer::kSeccomp, .error = machine.listener_error}),
          "a kernel from 5.0 on, and no filter around mcpac that has a listener of its own; "
          "without it a forbidden call still ends the process, unnamed"};
}

// Nothing is weaker without it: a crash is told by its signal only.
Capability describe_watch() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(offer_watch());
  int status = 0;
  const bool asked = child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  if (asked && WEXITSTATUS(status) == 0)
    return {"crash watch", true, "a crash is told with the functions it happened in", {}};
  const int error = asked ? WEXITSTATUS(status) : EAGAIN;
  return {
      "crash watch", false, layer_and_error({.layer = Layer::kProcess, .error = error}),
      "sysctl kernel.yama.ptrace_scope below 2; Docker: a profile that knows ptrace; without it "
      "a crash is told by its signal only"};
}

}  // namespace

Probe describe_machine(const Machine& machine, const cgroup::Groups& groups) {
  Probe probe;
  describe_namespaces(machine, probe);
  if (::geteuid() == 0) {
    const bool works = machine.identity == Identity::kOwnId;
    probe.capabilities.push_back(
        {"ids of its own for each child", works, works ? "from 90000 to 99999" : "",
         works ? "" : "Docker: --cap-add SETUID --cap-add SETGID; or run as an ordinary user"});
  }
  if (::geteuid() == 0 && machine.namespaces) {  // without mounts there is nothing to map
    const IdMap made = make_id_map(kFirstOwnId);
    if (made.ended > 0) ::waitpid(made.ended, nullptr, 0);
    probe.capabilities.push_back(
        {"id maps for mounts", static_cast<bool>(made.map), "",
         made.map ? "" : "or let others read the sources and write the work folder"});
  }
  probe.capabilities.push_back(describe_landlock(machine));
  probe.capabilities.push_back(describe_filter(machine));
  if (machine.filter) probe.capabilities.push_back(describe_listener(machine));
  probe.capabilities.push_back(describe_watch());
  probe.capabilities.push_back(groups.describe());
  probe.tier = machine.tier();
  return probe;
}

}  // namespace mcpac::sandbox
