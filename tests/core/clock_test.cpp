// The clock that durations of authority are measured with.
#include "core/clock.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

namespace mcpac {
namespace {

// What a child ends with.
enum : int { kCounted = 0, kNotCounted = 1, kCannot = 2 };

// In a time namespace where the clock that counts sleep is a day ahead of the one that does not, as
// on a machine that has slept for a day. Ends the process.
[[noreturn]] void look_after_a_day_of_sleep() {
  const auto outside = std::chrono::steady_clock::now();
  if (::unshare(CLONE_NEWTIME) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWTIME) != 0)
    ::_exit(kCannot);
  const int offsets = ::open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
  constexpr std::string_view kDay = "boottime 86400 0\n";
  if (offsets < 0 || ::write(offsets, kDay.data(), kDay.size()) != ssize_t{kDay.size()})
    ::_exit(kCannot);
  const pid_t inside = ::fork();
  if (inside == 0) {
    const auto ahead = SystemClock().steady_now() - outside;
    ::_exit(ahead >= std::chrono::hours(24) ? kCounted : kNotCounted);
  }
  int status = 0;
  ::waitpid(inside, &status, 0);
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : kCannot);
}

}  // namespace

TEST_SUITE("core/clock") {
  TEST_CASE(
      "the sleep of the machine counts, so that it prolongs nothing that was granted for a time") {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) look_after_a_day_of_sleep();
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kCannot) {
      MESSAGE("skipped: no time namespaces here (CONFIG_TIME_NS, and the right to make one)");
      return;
    }
    CHECK(WEXITSTATUS(status) == kCounted);
  }

  TEST_CASE("it never goes back") {
    const SystemClock clock;
    const auto before = clock.steady_now();
    CHECK(clock.steady_now() >= before);
  }
}

}  // namespace mcpac
