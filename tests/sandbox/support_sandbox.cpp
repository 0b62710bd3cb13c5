#include "sandbox/support_sandbox.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/file.h"
#include "places.h"
#include "sandbox/landlock.h"

namespace mcpac::sandbox::test {
namespace {

constexpr std::size_t kMostOutput = std::size_t{1} << 20U;

std::pair<UniqueFd, UniqueFd> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::string drain(int fd) {
  std::string text;
  char block[4096];
  while (text.size() < kMostOutput) {
    const ssize_t size = ::read(fd, block, sizeof block);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    text.append(block, static_cast<std::size_t>(size));
  }
  return text;
}

std::string with_output(std::string text, const std::string& output) {
  return output.empty() ? text : text + " " + output;
}

}  // namespace

std::filesystem::path warden_program() {
  return mcpac::testing::in_build("libexec/mcpac/mcpac-warden");
}
std::filesystem::path hostile_program() {
  return mcpac::testing::in_build("tests/sandbox_hostile");
}

Spec hostile(std::vector<std::string> words, Admits admits) {
  Spec spec;
  spec.program = hostile_program();
  spec.arguments = std::move(words);
  spec.arguments.insert(spec.arguments.begin(), "hostile");
  spec.admits = admits;
  spec.limits.wall = std::chrono::seconds(20);
  spec.limits.cpu = std::chrono::seconds(10);
  spec.limits.memory = std::uint64_t{256} << 20U;
  return spec;
}

Result<Outcome> run(Warden& warden, Spec spec) {
  auto [reader, writer] = make_pipe();
  if (spec.standard_output < 0) spec.standard_output = writer.get();
  auto child = warden.spawn(spec);
  writer.reset();
  if (!child) return std::unexpected(child.error());
  Outcome outcome;
  outcome.tier = child->tier();
  // The wall limit is counted by wait(), so read in between only what is there; one who writes a
  // little now and then must not keep us here.
  const auto end = std::chrono::steady_clock::now() + spec.limits.wall;
  while (spec.limits.wall.count() == 0 || std::chrono::steady_clock::now() < end) {
    pollfd waiting[] = {{reader.get(), POLLIN, 0}, {child->end_descriptor(), POLLIN, 0}};
    const auto limit = static_cast<int>(spec.limits.wall.count());
    if (::poll(waiting, 2, limit > 0 ? limit : -1) <= 0) break;
    if (waiting[1].revents != 0) break;
    char block[4096];
    const ssize_t size = ::read(reader.get(), block, sizeof block);
    if (size <= 0) break;
    outcome.output.append(block, static_cast<std::size_t>(size));
    if (outcome.output.size() >= kMostOutput) {
      reader.reset();
      break;
    }
  }
  auto verdict = child->wait();
  if (!verdict) return std::unexpected(verdict.error());
  if (reader) outcome.output += drain(reader.get());
  outcome.verdict = std::move(*verdict);
  return outcome;
}

std::string describe(const Result<Outcome>& outcome) {
  if (!outcome) {
    return "error " + to_string(outcome.error().id) + " " + outcome.error().where + " " +
           outcome.error().what;
  }
  const Verdict& verdict = outcome->verdict;
  const auto text = [&]() -> std::string {
    switch (verdict.kind) {
      case Verdict::Kind::kExited: return "exit " + std::to_string(verdict.code);
      case Verdict::Kind::kSignalled: return "signal " + std::to_string(verdict.code);
      case Verdict::Kind::kViolated: return "violated";
      case Verdict::Kind::kTimedOut: return "timed out";
      case Verdict::Kind::kCpuLimit: return "cpu limit";
      case Verdict::Kind::kMemoryLimit: return "memory limit";
      case Verdict::Kind::kKilled: return "killed";
    }
    return "?";
  };
  return with_output(text(), outcome->output);
}

std::string run_once(const Spec& spec) {
  auto warden = Warden::start(warden_program());
  if (!warden) return "error " + warden.error().what;
  return describe(run(*warden, spec));
}

std::string run_outside(const std::vector<std::string>& words) {
  auto [reader, writer] = make_pipe();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, writer.get(), 1);
  std::vector<std::string> texts(words);
  texts.insert(texts.begin(), "hostile");
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  char* environment[] = {nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, hostile_program().c_str(), &actions, nullptr,
                                  arguments.data(), environment);
  ::posix_spawn_file_actions_destroy(&actions);
  writer.reset();
  if (error != 0) return "not started";
  const std::string output = drain(reader.get());
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return with_output("exit " + std::to_string(WEXITSTATUS(status)), output);
}

std::string in_child(const std::function<std::string()>& body) {
  auto [reader, writer] = make_pipe();
  const pid_t pid = ::fork();
  if (pid == 0) {
    reader.reset();
    const std::string text = body();
    ::_exit(::write(writer.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())
                ? 0
                : 1);
  }
  writer.reset();
  std::string text = drain(reader.get());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status == 0 ? text : "died";
}

bool become_user(unsigned id) {
  return ::setgroups(0, nullptr) == 0 && ::setresgid(id, id, id) == 0 &&
         ::setresuid(id, id, id) == 0;
}

bool lack(Lacking what) {
  const auto context = ::seccomp_init(SCMP_ACT_ALLOW);
  const auto refuse = [&](int error, int call) {
    return ::seccomp_rule_add(context, SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call, 0) == 0;
  };
  if (what == Lacking::kListener) {
    const scmp_arg_cmp asks{1, SCMP_CMP_MASKED_EQ, 8, 8};  // SECCOMP_FILTER_FLAG_NEW_LISTENER
    const bool refused =
        ::seccomp_rule_add(context, SCMP_ACT_ERRNO(EBUSY), SCMP_SYS(seccomp), 1, asks) == 0 &&
        ::seccomp_load(context) == 0;
    ::seccomp_release(context);
    return refused;
  }
  if (what == Lacking::kTracing) {
    const bool refused = refuse(EPERM, SCMP_SYS(ptrace)) && ::seccomp_load(context) == 0;
    ::seccomp_release(context);
    return refused;
  }
  bool ok = refuse(ENOSYS, SCMP_SYS(clone3));
  for (const int call :
       {SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(open_tree),
        SCMP_SYS(move_mount), SCMP_SYS(fsopen), SCMP_SYS(mount_setattr)}) {
    ok = ok && refuse(EPERM, call);
  }
  if (what == Lacking::kNamespaces || what == Lacking::kNamespacesAndLandlock) {
    ok = ok && refuse(EPERM, SCMP_SYS(unshare)) && refuse(EPERM, SCMP_SYS(setns));
    for (const std::uint64_t flag : std::initializer_list<std::uint64_t>{
             CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID}) {
      const scmp_arg_cmp asks{0, SCMP_CMP_MASKED_EQ, flag, flag};
      ok = ok && ::seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, asks) == 0;
    }
  }
  if (what == Lacking::kNamespacesAndLandlock) {
    for (const int call : {444, 445, 446}) ok = ok && refuse(EPERM, call);  // landlock_…
  }
  if (what == Lacking::kFilters) ok = ok && refuse(EINVAL, SCMP_SYS(seccomp));
  // Loaded by prctl where seccomp() itself is refused: the filter counts from the next call on.
  ok = ok && ::seccomp_load(context) == 0;
  ::seccomp_release(context);
  return ok;
}

bool can_serve_in_tier_b() {
  constexpr int kScopes = 6;
  if (landlock_abi() >= kScopes) return true;
  MESSAGE("skipped: needs Landlock ABI 6 (Linux 6.12)");
  return false;
}

}  // namespace mcpac::sandbox::test
