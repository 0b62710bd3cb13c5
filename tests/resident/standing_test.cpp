// Standing: processes that are confined otherwise are not the same.
#include "resident/standing.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "resident/support_child.h"
#include "resident/support_stalled.h"

using namespace mcpac;
using namespace mcpac::resident;
using resident_test::holds_in_child;

namespace {

std::optional<Standing> own() {
  const auto self = Process::of(::getpid());
  return self ? standing_of(*self) : std::nullopt;
}

// What differs, as a child sees it that does `confine` to itself. "-": nothing does.
template <class Confine>
bool differs_in(const char* expected, Confine confine) {
  const auto before = own();
  return before && holds_in_child([&] {
           if (!confine()) return false;
           const auto after = own();
           if (!after) return false;
           return difference(*before, *after).value_or("-") == expected &&
                  difference(*after, *before).value_or("-") == expected;
         });
}

}  // namespace

TEST_SUITE("resident/standing") {
  TEST_CASE("a child that changes nothing stands as its parent does") {
    if (!resident_test::may_use_new_privileges()) {
      MESSAGE("skipped: under no_new_privs everybody stands alone");
      return;
    }
    CHECK(differs_in("-", [] { return true; }));
  }

  TEST_CASE("limits, priority, processors and no_new_privs are seen") {
    if (!resident_test::may_use_new_privileges()) {
      MESSAGE("skipped: under no_new_privs everybody stands alone");
      return;
    }
    CHECK(differs_in("limits", [] {
      rlimit limit{};
      ::getrlimit(RLIMIT_NOFILE, &limit);
      limit.rlim_cur -= 1;
      return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
    }));
    CHECK(differs_in("schedule", [] { return resident_test::change_priority(); }));
    CHECK(differs_in("NoNewPrivs", [] { return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0; }));
  }

  TEST_CASE("who is under no_new_privs stands alone, also beside its like") {
    CHECK(holds_in_child([] {
      if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
      const auto standing = own();
      return standing && difference(*standing, *standing) == "NoNewPrivs";
    }));
  }

  TEST_CASE("filters that the kernel does not count are never the same") {
    auto standing = own();
    REQUIRE(standing.has_value());
    (*standing)["NoNewPrivs"] = "\t0";  // also where this test runs under it
    (*standing)["Seccomp"] = "\t2";
    standing->erase("Seccomp_filters");
    CHECK(difference(*standing, *standing) == "Seccomp");
    (*standing)["Seccomp_filters"] = "\t1";
    CHECK(!difference(*standing, *standing));
  }

  TEST_CASE("the same folder through another mount is another root") {
    const bool may = holds_in_child([] { return ::unshare(CLONE_NEWNS) == 0; });
    if (!may || !resident_test::may_use_new_privileges()) {
      MESSAGE("skipped: needs a mount namespace of its own, and no no_new_privs");
      return;
    }
    CHECK(holds_in_child([] {
      if (::unshare(CLONE_NEWNS) != 0 ||
          ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount("/", "/mnt", nullptr, MS_BIND | MS_REC, nullptr) != 0)
        return false;
      const resident_test::Waiting inside([] { return ::chroot("/mnt") == 0; });
      const auto process = Process::of(inside.pid());
      return inside.went_well() && process &&
             why_apart_from_us(*process) == "other conditions: root";
    }));
  }

  TEST_CASE("a root on a file system that never answers makes nobody wait") {
    if (!holds_in_child([] { return resident_test::mount_stalled(); }) ||
        !resident_test::may_use_new_privileges()) {
      MESSAGE("skipped: needs FUSE in a mount namespace of its own, and no no_new_privs");
      return;
    }
    CHECK(holds_in_child([] {
      if (!resident_test::mount_stalled()) return false;
      const resident_test::Waiting inside([] { return ::chroot("/mnt") == 0; });
      const auto process = Process::of(inside.pid());
      return inside.went_well() && process && standing_of(*process) &&
             why_apart_from_us(*process) == "other conditions: root";
    }));
  }

  TEST_CASE("two processes are told apart as their standings are") {
    const auto self = Process::of(::getpid());
    REQUIRE(self.has_value());
    if (!resident_test::may_use_new_privileges()) {
      CHECK(why_apart_from_us(*self) == "other conditions: NoNewPrivs");
      return;
    }
    CHECK(!why_apart_from_us(*self));
    const resident_test::Waiting other([] { return resident_test::change_limit(); });
    REQUIRE(other.went_well());
    const auto process = Process::of(other.pid());
    REQUIRE(process.has_value());
    CHECK(why_apart_from_us(*process) == "other conditions: limits");
    CHECK(why_apart(*process, *self) == "other conditions: limits");
  }

  TEST_CASE("other namespaces are seen") {
    if (!resident_test::may_use_new_privileges()) {
      MESSAGE("skipped: under no_new_privs everybody stands alone");
      return;
    }
    for (const auto& [kind, name] : {std::pair{CLONE_NEWUTS, "uts namespace"},
                                     {CLONE_NEWIPC, "ipc namespace"},
                                     {CLONE_NEWNET, "net namespace"},
                                     {CLONE_NEWNS, "mnt namespace"},
                                     {CLONE_NEWPID, "pid_for_children namespace"}}) {
      const auto kind_of = kind;
      CAPTURE(name);
      bool could = true;
      const bool differs = differs_in(name, [&] { return ::unshare(kind_of) == 0; });
      if (!differs) could = holds_in_child([&] { return ::unshare(kind_of) == 0; });
      if (could) {
        CHECK(differs);
      } else {
        MESSAGE("skipped: this user may not make such a namespace");
      }
    }
  }

  TEST_CASE("another user and other capabilities are seen") {
    if (::geteuid() != 0 || !resident_test::may_use_new_privileges()) {
      MESSAGE("skipped: needs root, and no no_new_privs");
      return;
    }
    CHECK(differs_in("CapBnd", [] { return ::prctl(PR_CAPBSET_DROP, 0, 0, 0, 0) == 0; }));
    const auto before = own();
    CHECK(holds_in_child([&] {
      if (::setresuid(65534, 65534, 65534) != 0) return false;
      ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
      const auto after = own();
      return after && before && difference(*before, *after).has_value();
    }));
  }

  TEST_CASE("a process that has ended has no standing, and its number is nobody's") {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    const UniqueFd ours(ends[0]);
    UniqueFd theirs(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) {
      char byte = 0;
      ::close(ends[0]);
      ::_exit(static_cast<int>(::read(ends[1], &byte, 1)));
    }
    const auto process = Process::of(child);
    REQUIRE(process.has_value());
    CHECK(process->is_alive());
    REQUIRE(::write(ours.get(), "x", 1) == 1);
    int status = 0;
    siginfo_t info{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
    CHECK(!process->is_alive());
    CHECK(!standing_of(*process));
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(!standing_of(*process));
    CHECK(!process->signal(0));
    CHECK(!Process::of(0));
    CHECK(!Process::of(-1));
  }
}
