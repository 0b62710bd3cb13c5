// Standing: processes that are confined otherwise are not the same.
#include "resident/standing.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "resident/support_child.h"

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
    CHECK(differs_in("-", [] { return true; }));
  }

  TEST_CASE("limits, priority, processors and no_new_privs are seen") {
    CHECK(differs_in("limits", [] {
      rlimit limit{};
      ::getrlimit(RLIMIT_NOFILE, &limit);
      limit.rlim_cur -= 1;
      return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
    }));
    CHECK(differs_in("schedule", [] { return ::nice(1) != -1; }));
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
    (*standing)["Seccomp"] = "\t2";
    standing->erase("Seccomp_filters");
    CHECK(difference(*standing, *standing) == "Seccomp");
    (*standing)["Seccomp_filters"] = "\t1";
    CHECK(!difference(*standing, *standing));
  }

  TEST_CASE("other namespaces are seen") {
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
    if (::geteuid() != 0) {
      MESSAGE("skipped: needs root");
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
