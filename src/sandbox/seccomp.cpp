// SPDX-License-Identifier: Apache-2.0

#include "sandbox/seccomp.h"

#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "core/file.h"

namespace mcpac::sandbox {
namespace {

struct Release {
  void operator()(void* context) const { seccomp_release(context); }
};
using Context = std::unique_ptr<void, Release>;

std::unexpected<Error> failed(std::string_view doing, int error) {
  return fail(ErrorId::kSandboxLayerFailed, std::string("cannot build the system-call filter: ") +
                                                std::string(doing) + ": " + std::strerror(error));
}

// A binary tree of call numbers: installing a filter runs it for every number there is, and the
// tree halves that.
int configure(scmp_filter_ctx context) {
  // A mark for finish(): otherwise the same ending as that of unknown calls.
  if (const int error = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_THREAD))
    return error;
  if (const int error = seccomp_attr_set(context, SCMP_FLTATR_CTL_NNP, 0)) return error;
  return seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
}

int add_rules(scmp_filter_ctx context, const FilterKey& key) {
  const bool serves = key.admits.has<Serves>();
  std::map<int, std::uint32_t> answers;
  const auto add = [&answers](const std::vector<CallGroup>& groups) {
    for (const CallGroup& group : groups) {
      for (const int call : group.calls) answers[call] = group.answer;
    }
  };
  std::vector<ArgumentRule> rules;
  if (serves) {
    add(serving_groups(key));
    rules = serving_rules(key);
  } else {
    add(call_groups());
    add(admitted_groups(key));
    rules = argument_rules(key);
    std::ranges::move(admitted_rules(key), std::back_inserter(rules));
  }
  for (const ArgumentRule& rule : rules) answers.erase(rule.call);
  for (const auto& [call, answer] : answers) {
    if (const int error = seccomp_rule_add_exact(context, answer, call, 0)) return error;
  }
  for (const ArgumentRule& rule : rules) {
    const int error = seccomp_rule_add_exact_array(context, rule.answer, rule.call,
                                                   static_cast<unsigned>(rule.arguments.size()),
                                                   rule.arguments.data());
    if (error != 0) return error;
  }
  return 0;
}

// libseccomp 2.5 writes a filter to a descriptor only.
Result<std::vector<sock_filter>> export_filter(scmp_filter_ctx context) {
  const UniqueFd file(::memfd_create("filter", MFD_CLOEXEC));
  if (!file) return failed("memfd_create", errno);
  if (const int error = seccomp_export_bpf(context, file.get())) return failed("export", -error);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return failed("fstat", errno);
  std::vector<sock_filter> filter(static_cast<std::size_t>(info.st_size) / sizeof(sock_filter));
  const auto bytes = filter.size() * sizeof(sock_filter);
  if (::pread(file.get(), filter.data(), bytes, 0) != static_cast<ssize_t>(bytes))
    return failed("read", EIO);
  return filter;
}

// Calls of another architecture end the process despite a listener: their numbers would be taken
// for others. libseccomp makes no filter whose default is a listener, so it is written here.
void finish(std::span<sock_filter> filter, Rest rest) {
  for (sock_filter& step : filter) {
    if (BPF_CLASS(step.code) != BPF_RET) continue;
    if (step.k == SECCOMP_RET_KILL_PROCESS && rest == Rest::kReport)
      step.k = SECCOMP_RET_USER_NOTIF;
    else if (step.k == SECCOMP_RET_KILL_THREAD)
      step.k = SECCOMP_RET_KILL_PROCESS;
  }
}

}  // namespace

Result<std::vector<sock_filter>> compile_filter(const FilterKey& key) {
  const Context context(
      seccomp_init(key.admits.has<Serves>() ? SCMP_ACT_ERRNO(ENOSYS) : SCMP_ACT_KILL_PROCESS));
  if (!context) return failed("init", ENOMEM);
  if (const int error = configure(context.get())) return failed("attributes", -error);
  if (const int error = add_rules(context.get(), key)) return failed("rules", -error);
  auto filter = export_filter(context.get());
  if (filter) finish(*filter, key.rest);
  return filter;
}

void set_own_process(std::span<sock_filter> filter, pid_t process) {
  for (sock_filter& step : filter) {
    const bool compares = BPF_CLASS(step.code) == BPF_JMP && BPF_OP(step.code) == BPF_JEQ;
    if (compares && step.k == kOwnProcessMark) step.k = static_cast<std::uint32_t>(process);
  }
}

int install_filter(std::span<sock_filter> filter) {
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? 0 : errno;
}

}  // namespace mcpac::sandbox
