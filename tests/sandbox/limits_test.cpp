// Limits, and how each ending is reported.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/file.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {

TEST_SUITE("sandbox/limits") {
  using std::chrono::milliseconds;

  TEST_CASE("the wall clock ends a program that waits, spins or ignores every signal") {
    for (const char* command : {"stay", "spin", "ignore-term"}) {
      CAPTURE(command);
      Spec spec = hostile({command});
      spec.limits.wall = milliseconds(300);
      auto warden = Warden::start(warden_program());
      REQUIRE(warden);
      const auto outcome = run(*warden, spec);
      REQUIRE(outcome);
      CHECK(outcome->verdict.kind == Verdict::Kind::kTimedOut);
      CHECK(outcome->verdict.wall >= milliseconds(300));
      CHECK(outcome->verdict.detail == "the wall-clock limit of 300 ms");
      REQUIRE(outcome->verdict.limit);
      CHECK(outcome->verdict.limit->name == "wall");
      CHECK(outcome->verdict.limit->allowed == 300'000);
      CHECK(outcome->verdict.limit->used >= 300'000);
    }
  }

  TEST_CASE("the CPU limit ends a program that computes, and says so") {
    Spec spec = hostile({"spin"});
    spec.limits.cpu = std::chrono::seconds(1);
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    const auto outcome = run(*warden, spec);
    REQUIRE(outcome);
    CHECK(describe(outcome) == "cpu limit");
    REQUIRE(outcome->verdict.limit);
    CHECK(outcome->verdict.limit->name == "cpu");
    CHECK(outcome->verdict.limit->allowed == 1'000'000);
  }

  TEST_CASE("memory beyond the limit is refused, and what was used is reported") {
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    const auto refused = run(*warden, hostile({"allocate", "400"}));
    CHECK(describe(refused) == "exit 10 ENOMEM");
    REQUIRE(refused);
    REQUIRE(refused->verdict.limit);
    CHECK(refused->verdict.limit->name == "memory");
    CHECK(refused->verdict.limit->allowed == std::uint64_t{256} << 20U);
    CHECK(refused->verdict.limit->used > std::uint64_t{224} << 20U);
    const auto outcome = run(*warden, hostile({"allocate", "100"}));
    REQUIRE(outcome);
    CHECK(outcome->verdict.code == 0);
    CHECK_FALSE(outcome->verdict.limit);
    CHECK(outcome->verdict.peak_memory > std::uint64_t{100} << 20U);
    CHECK(outcome->verdict.peak_memory < std::uint64_t{256} << 20U);
  }

  // 300 MiB in a tmpfs, where 256 MiB is what a program may allocate.
  TEST_CASE("what a program only maps of granted files in memory is not memory that it took") {
    struct statfs info {};
    auto folder = TemporaryFolder::create("/dev/shm", "mcpac-test-map-");
    if (::statfs("/dev/shm", &info) != 0 || info.f_type != TMPFS_MAGIC || !folder) {
      MESSAGE("skipped, no tmpfs here");
      return;
    }
    REQUIRE(::chmod(folder->path().c_str(), 0755) == 0);
    const auto file = folder->path() / "large";
    {
      const UniqueFd made(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
      if (::posix_fallocate(made.get(), 0, off_t{300} << 20U) != 0) {
        MESSAGE("skipped, no room for 300 MiB in /dev/shm");
        return;
      }
    }
    Spec spec = hostile({"map-file", file}, Admits{}.with(ReadsFiles{}));
    spec.mounts = {{folder->path(), folder->path(), Mount::Access::kRead}};
    CHECK(run_once(spec) == "exit 0");
  }

  TEST_CASE("threads are counted by sandbox, not by user") {
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    Spec waiting = hostile({"stay"});
    const auto beside = warden->spawn(waiting);
    REQUIRE(beside);
    CHECK(describe(run(*warden, hostile({"thread-count"}))) == "exit 0 63");
    CHECK(run_outside({"thread-count"}) == "exit 0 200");
    CHECK(in_child([]() -> std::string {
            return become_user() ? run_once(hostile({"thread-count"})) : "no user";
          }) == "exit 0 63");
  }

  TEST_CASE("a flood of output blocks nothing: when nobody reads on, writing fails") {
    // Not by SIGPIPE: the first process of a pid namespace has no default signals. It gets EPIPE.
    CHECK(run_once(hostile({"flood"})).starts_with("exit 11 xxx"));
  }

  TEST_CASE("a crash is told from an exit") {
    CHECK(run_once(hostile({"crash"})) == "signal 11");
    CHECK(run_once(hostile({"abort"})) == "signal 11");  // pid 1 does not die of SIGABRT
  }

  TEST_CASE("a kill is reported with the reason of the first") {
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    auto child = warden->spawn(hostile({"stay"}));
    REQUIRE(child);
    child->kill(Verdict::Kind::kKilled);
    child->kill(Verdict::Kind::kTimedOut);
    const auto verdict = child->wait();
    REQUIRE(verdict);
    CHECK(verdict->kind == Verdict::Kind::kKilled);
    CHECK_FALSE(child->wait());
  }

  TEST_CASE("the end descriptor is silent while the child runs and readable after") {
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    auto child = warden->spawn(hostile({"stay"}));
    REQUIRE(child);
    pollfd end{child->end_descriptor(), POLLIN, 0};
    CHECK(::poll(&end, 1, 50) == 0);
    child->kill(Verdict::Kind::kKilled);
    CHECK(::poll(&end, 1, 10'000) == 1);
  }
}

}  // namespace mcpac::sandbox::test
