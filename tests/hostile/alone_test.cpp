// The kernel alone: programs that nobody analyzed, started by the real `mcpac run`, as root and as
// an ordinary user.
#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "core/file.h"
#include "e2e/workspace.h"
#include "hostile/support_matrix.h"
#include "places.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::hostile {
namespace {

namespace fs = std::filesystem;

struct Alone {
  std::string name;
  int exit_code;
  std::string said{};  // on standard output; for a violation its call, in the error
};

constexpr int kRefused = 10;  // by an errno, which is said
constexpr int kViolated = 137;
constexpr int kTimedOut = 124;

const std::vector<Alone>& table() {
  static const std::vector<Alone> cases{
      {"read_passwd", kRefused, "EACCES"},
      {"read_secret", kRefused, "EACCES"},
      {"probe_stat", kRefused, "EACCES"},
      {"list_root", kRefused, "EACCES"},
      {"create_by_open", kRefused, "EACCES"},
      {"remove_file", kRefused, "EACCES"},
      {"link_hard", kRefused, "EACCES"},
      {"link_symbolic", kRefused, "EACCES"},
      {"proc_own_memory", kRefused, "EACCES"},
      {"proc_host_environment", kRefused, "EACCES"},
      {"make_device", kRefused, "EACCES"},
      {"handle_guess", kViolated, "open_by_handle_at"},
      {"leaked_descriptors", 0, "0 1 2 3 "},
      {"leaked_folder", kRefused, "EACCES"},
      {"copy_dup", kRefused, "EPERM"},
      {"pass_out", kRefused, "EPERM"},
      {"take_in", kRefused, "EPERM"},
      {"steal_from_host", kViolated, "pidfd_open"},
      {"chroot_dance", kViolated, "chroot"},
      {"pivot_root", kViolated, "mount"},
      {"mount_api_open", kViolated, "fsopen"},
      {"namespace_user", kViolated, "unshare"},
      {"namespace_enter", kViolated, "setns"},
      {"id_user", kViolated, "setuid"},
      {"prctl_outlive", kRefused, "EPERM"},
      {"run_shell", kRefused, "EPERM"},
      {"run_memory_file", kRefused, "EPERM"},
      {"run_descriptors", kRefused, "EBADF"},
      {"bpf_map", kViolated, "bpf"},
      {"ring_setup", kViolated, "io_uring_setup"},
      {"key_session", kViolated, "keyctl"},
      {"socket_tcp", kRefused, "EPERM"},
      {"socket_netlink", kRefused, "EPERM"},
      {"socket_vsock", kRefused, "EPERM"},
      {"reach_loopback", kRefused, "EPERM"},
      {"reach_abstract", kRefused, "EPERM"},
      {"redirect_channel", kRefused, "EPERM"},
      {"make_fork", kRefused, "EPERM"},
      {"make_clone3", kRefused, "ENOSYS"},
      {"fork_bomb", kRefused, "EPERM"},
      {"orphan", kRefused, "EPERM"},
      {"thread_bomb", kRefused, "63 EAGAIN"},
      {"trace_host", kViolated, "ptrace"},
      {"memory_read_host", kViolated, "process_vm_readv"},
      {"signal_host", kRefused, "EPERM"},
      {"limit_set_host", kRefused, "EPERM"},
      {"schedule_set_host", kRefused, "EPERM"},
      {"share_anonymous", kRefused, "EPERM"},
      {"push_input", kRefused, "ENOTTY"},
      {"ignore_signals", kTimedOut},
      {"close_and_stay", kTimedOut},
      {"frame_never_finished", kTimedOut},
      {"frame_slowly", kTimedOut},
      {"frame_no_json", 0, "-32700"},
      {"frame_binary", 0, "-32700"},
      {"frame_deep", 0, "-32600"},
      {"frame_without_tool", 0, "-32602"},
      {"frame_too_long", kViolated, "a line is longer than"},
      {"channel_closed", 0},
  };
  return cases;
}

// A project without servers, below a folder of whoever runs it.
class Project {
 public:
  Project() : folder_(TemporaryFolder::create("/tmp", "mcpac-hostile-alone")) {
    if (!folder_) return;
    fs::create_directory(path() / "tmp");
    std::ofstream(path() / "mcpac.json") << "{\"mcpServers\": {}}\n";
    ready_ = mcpac({"generate"}).exit_code == 0;
  }
  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] const fs::path& path() const { return folder_->path(); }
  e2e::Outcome run(const Alone& one) const {
    return mcpac({"run", "--timeout", one.exit_code == kTimedOut ? "0.4" : "60", "--",
                  cases_program().native(), one.name, path().native(), std::to_string(::getpid()),
                  "9"});
  }
  [[nodiscard]] bool left() const { return !fs::is_empty(path() / "tmp"); }

 private:
  [[nodiscard]] e2e::Outcome mcpac(std::vector<std::string> words) const {
    words.insert(words.begin(), mcpac::testing::in_build("bin/mcpac"));
    const std::string base = path().native();
    return e2e::run_program(
        words,
        {"XDG_STATE_HOME=" + base + "/.state", "XDG_CACHE_HOME=" + base + "/.cache",
         "TMPDIR=" + base + "/tmp", "HOME=" + base, "NO_COLOR=1"},
        {.folder = path()});
  }

  Result<TemporaryFolder> folder_;
  bool ready_ = false;
};

// In a child of ours: what is wrong, a line each; nothing when all is as it should be.
std::string run_all(bool as_user) {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return "no reaper\n";
  if (as_user && !sandbox::test::become_user()) return "no user\n";
  const Project project;
  if (!project.ready()) return "no project\n";
  std::string wrong;
  for (const Alone& one : table()) {
    const auto run = project.run(one);
    const bool violation = one.exit_code == kViolated;
    const bool said = violation ? e2e::has(run.err, "MCPAC-E0709") && e2e::has(run.err, one.said)
                                : run.out == one.said;
    if (run.exit_code != one.exit_code || !said)
      wrong += one.name + ": exit " + std::to_string(run.exit_code) + " " + run.out.substr(0, 80) +
               " " + run.err.substr(0, 400) + "\n";
    if (project.left()) wrong += one.name + ": a temporary file is left\n";
    if (const auto left = processes_below(::getpid()).parent; !left.empty())
      wrong += one.name + ": left: " + left + "\n";
  }
  return wrong;
}

}  // namespace

TEST_SUITE("hostile/alone") {
  TEST_CASE("without the analyzer the kernel holds, and nothing is left of any program") {
    CHECK(sandbox::test::in_child([] { return run_all(false); }) == "");
  }

  TEST_CASE("the same for an ordinary user, where the tests are root's") {
    if (::geteuid() != 0) {
      MESSAGE("skipped: the case before was the ordinary user's");
      return;
    }
    // The build may lie where only its owner can read.
    const bool readable =
        sandbox::test::in_child([]() -> std::string {
          if (!sandbox::test::become_user()) return "no user";
          return ::access(mcpac::testing::in_build("bin/mcpac").c_str(), R_OK | X_OK) == 0 &&
                         ::access(cases_program().c_str(), R_OK | X_OK) == 0
                     ? "readable"
                     : "not readable";
        }) == "readable";
    if (!readable) {
      MESSAGE("skipped: another user cannot read this build");
      return;
    }
    CHECK(sandbox::test::in_child([] { return run_all(true); }) == "");
  }
}

}  // namespace mcpac::hostile
