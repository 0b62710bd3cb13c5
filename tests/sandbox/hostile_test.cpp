// Each case is one thing a hostile program does and the exact way it ends. Where that proves
// something and harms nobody, the control is how it ends outside: a case that fails there too
// proves nothing.
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/file.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

struct Case {
  std::vector<std::string> words;
  std::string inside;
  std::string outside{};  // empty: not run there
};

// For root and for an ordinary user, whose sandboxes are built in different ways.
void check_all(const std::vector<Case>& cases) {
  auto warden = Warden::start(warden_program());
  REQUIRE(warden);
  for (const Case& one : cases) {
    CAPTURE(one.words);
    CHECK(describe(run(*warden, hostile(one.words))) == one.inside);
    if (!one.outside.empty()) CHECK(run_outside(one.words) == one.outside);
  }
  if (::geteuid() != 0) return;
  std::string expected;
  for (const Case& one : cases) expected += one.words.front() + ": " + one.inside + "\n";
  CHECK(in_child([&]() -> std::string {
          if (!become_user()) return "no user";
          auto of_user = Warden::start(warden_program());
          if (!of_user) return of_user.error().what;
          std::string text;
          for (const Case& one : cases) {
            text += one.words.front() + ": " + describe(run(*of_user, hostile(one.words))) + "\n";
          }
          return text;
        }) == expected);
}

}  // namespace

TEST_SUITE("sandbox/hostile") {
  TEST_CASE("a plain program runs and its exit code and output arrive") {
    check_all({{{"hello"}, "exit 7 hello", "exit 7 hello"},
               {{"leave", "3"}, "exit 3", "exit 3"},
               {{"threads-work"}, "exit 0", "exit 0"},
               {{"signal-self"}, "exit 0", "exit 0"},
               {{"echo"}, "exit 0", "exit 0"},
               {{"read-limit"}, "exit 0", "exit 0"}});
  }

  TEST_CASE("no file can be opened, made, listed, asked about or changed") {
    const auto folder = TemporaryFolder::create("/tmp", "mcpac-test-hostile");
    REQUIRE(folder);
    const auto inside = [&](const char* name) { return (folder->path() / name).native(); };
    check_all({{{"open", "/etc/passwd"}, "exit 10 EACCES", "exit 0"},
               {{"open", "/"}, "exit 10 EACCES", "exit 0"},
               {{"open", "/dev/null"}, "exit 10 EACCES", "exit 0"},
               {{"list", "/"}, "exit 10 EACCES"},
               {{"stat", "/etc/passwd"}, "exit 10 EACCES", "exit 0"},
               {{"proc-memory"}, "exit 10 EACCES", "exit 0"},
               {{"create", inside("file")}, "exit 10 EACCES", "exit 0"},
               {{"make-folder", inside("folder")}, "exit 10 EACCES", "exit 0"},
               {{"change-mode", inside("folder")}, "exit 10 EACCES", "exit 0"},
               {{"make-link", inside("link")}, "exit 10 EACCES", "exit 0"},
               {{"make-fifo", inside("fifo")}, "exit 10 EACCES", "exit 0"},
               {{"write-and-run"}, "exit 10 EACCES", "exit 0"},
               {{"memory-file"}, "exit 10 EPERM", "exit 0"},
               {{"shared-memory"}, "exit 10 EPERM", "exit 0"}});
  }

  TEST_CASE("no socket of any family can be made, and the channel cannot be turned into another") {
    check_all({{{"socket-inet"}, "exit 10 EPERM", "exit 0"},
               {{"socket-inet6"}, "exit 10 EPERM", "exit 0"},
               {{"socket-unix"}, "exit 10 EPERM", "exit 0"},
               {{"socket-netlink"}, "exit 10 EPERM", "exit 0"},
               {{"socket-vsock"}, "exit 10 EPERM"},
               {{"socket-pair"}, "exit 10 EPERM", "exit 0"},
               {{"connect-channel"}, "exit 10 EPERM"},
               {{"receive-descriptors"}, "exit 10 EPERM"}});
  }

  TEST_CASE("no process can be made, replaced, traced, read or signalled") {
    check_all({{{"fork"}, "exit 10 EPERM", "exit 0"},
               {{"vfork"}, "exit 10 EPERM", "exit 0"},
               {{"clone3"}, "exit 10 ENOSYS", "exit 0"},
               {{"clone-user"}, "exit 10 EPERM"},
               {{"clone-thread-user"}, "violated"},
               {{"fork-bomb"}, "exit 10 EPERM", "exit 0"},
               {{"orphan"}, "exit 10 EPERM"},
               {{"run-shell"}, "exit 10 EPERM", "exit 0"},
               {{"run-again"}, "exit 10 EBADF"},
               {{"trace-me"}, "violated", "exit 0"},
               {{"trace-parent"}, "violated"},
               {{"read-other-memory"}, "violated"},
               {{"signal-all"}, "exit 10 EPERM", "exit 0"},
               {{"signal-other", std::to_string(::getpid())}, "exit 10 EPERM", "exit 0"}});
  }

  TEST_CASE(
      "limits cannot be raised, terminals not fed, other interfaces of the kernel not reached") {
    // Kernels are built without the 32-bit interface, too.
    const bool has_old_interface = run_outside({"old-arch"}) == "exit 0";
    check_all({{{"raise-limit"}, "exit 10 EPERM"},
               {{"raise-limit-old"}, "exit 10 EPERM"},
               {{"push-terminal-input"}, "exit 10 ENOTTY"},
               {{"dynamic-clock"}, "exit 10 EINVAL", "exit 0"},
               {{"priority-futex"}, "exit 10 ENOSYS", "exit 0"},
               {{"old-arch"}, has_old_interface ? "violated" : "signal 11"},
               {{"x32"}, "violated"}});
  }

  TEST_CASE("each of the kernel's dangerous calls ends the process") {
    std::vector<Case> cases;
    for (const long call : {SYS_io_uring_setup,
                            SYS_io_uring_enter,
                            SYS_bpf,
                            SYS_keyctl,
                            SYS_add_key,
                            SYS_request_key,
                            SYS_perf_event_open,
                            SYS_userfaultfd,
                            SYS_mount,
                            SYS_umount2,
                            SYS_pivot_root,
                            SYS_chroot,
                            SYS_open_tree,
                            SYS_move_mount,
                            SYS_fsopen,
                            SYS_mount_setattr,
                            SYS_unshare,
                            SYS_setns,
                            SYS_setuid,
                            SYS_setgid,
                            SYS_setresuid,
                            SYS_setgroups,
                            SYS_capset,
                            SYS_seccomp,
                            SYS_personality,
                            SYS_ptrace,
                            SYS_process_vm_writev,
                            SYS_init_module,
                            SYS_finit_module,
                            SYS_kexec_load,
                            SYS_reboot,
                            SYS_swapon,
                            SYS_acct,
                            SYS_quotactl,
                            SYS_syslog,
                            SYS_iopl,
                            SYS_ioperm,
                            SYS_shmget,
                            SYS_semget,
                            SYS_msgget,
                            SYS_mq_open,
                            SYS_fanotify_init,
                            SYS_name_to_handle_at,
                            SYS_open_by_handle_at,
                            SYS_pidfd_open,
                            SYS_pidfd_getfd,
                            SYS_pidfd_send_signal,
                            SYS_kcmp,
                            SYS_modify_ldt,
                            SYS_memfd_secret,
                            SYS_pkey_alloc,
                            SYS_vmsplice,
                            SYS_process_madvise,
                            SYS_tkill,
                            SYS_rt_sigqueueinfo,
                            SYS_rt_tgsigqueueinfo,
                            SYS_settimeofday,
                            SYS_clock_settime,
                            SYS_adjtimex,
                            SYS_sethostname,
                            SYS_migrate_pages,
                            SYS_mbind,
                            445 /* landlock_add_rule */,
                            447}) {
      cases.push_back({{"call", std::to_string(call)}, "violated"});
    }
    check_all(cases);
  }

  TEST_CASE("nothing of the host leaks in: descriptors, environment, names, signals") {
    ::setenv("MCPAC_TEST_SECRET", "canary", 1);
    check_all({{{"descriptors"}, "exit 0 0 1 2 "},
               {{"environment"}, "exit 0"},
               {{"host-name"}, "exit 10 ENOSYS"},
               {{"working-folder"}, "exit 10 EACCES"},
               {{"signals"}, "exit 0"}});
    ::unsetenv("MCPAC_TEST_SECRET");
  }

  TEST_CASE("the channel is descriptor 3 and works both ways") {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    const UniqueFd ours(ends[0]);
    const UniqueFd theirs(ends[1]);
    REQUIRE(::write(ours.get(), "ping", 4) == 4);
    Spec spec = hostile({"channel"});
    spec.channel = theirs.get();
    CHECK(run_once(spec) == "exit 0");
    char answer[8] = {};
    CHECK(::read(ours.get(), answer, sizeof answer) == 4);
    CHECK(std::string(answer) == "ping");
    spec = hostile({"descriptors"});
    spec.channel = theirs.get();
    CHECK(run_once(spec) == "exit 0 0 1 2 3 ");
  }

  TEST_CASE("an environment that is given is the whole environment") {
    Spec spec = hostile({"environment"});
    spec.environment = {"A=1", "B=2"};
    CHECK(run_once(spec) == "exit 0 A=1\nB=2\n");
  }
}

}  // namespace mcpac::sandbox::test
