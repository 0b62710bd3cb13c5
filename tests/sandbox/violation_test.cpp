// What is known of a system call that ended a program: its name, its path, where it came from. And
// that it ends the program whatever is known.
#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

Verdict verdict_of(std::vector<std::string> words) {
  auto warden = Warden::start(warden_program());
  REQUIRE(warden);
  const auto outcome = run(*warden, hostile(std::move(words)));
  REQUIRE(outcome);
  CHECK(outcome->verdict.kind == Verdict::Kind::kViolated);
  CHECK(outcome->verdict.code == SIGSYS);
  return outcome->verdict;
}

std::string call_of(Verdict verdict) {
  return verdict.call + " " + std::to_string(verdict.call_number) + " " + verdict.path + " " +
         (verdict.frames.size() > 2 ? "from somewhere" : "from nowhere");
}

}  // namespace

TEST_SUITE("sandbox/violation") {
  TEST_CASE("a forbidden call is named, and so is the path that it was about") {
    CHECK(call_of(verdict_of({"call", "250"})) == "keyctl 250  from somewhere");
    CHECK(call_of(verdict_of({"change-root", "/etc/shadow"})) ==
          "chroot 161 /etc/shadow from somewhere");
    CHECK(call_of(verdict_of({"call-in-thread", "250"})) == "keyctl 250  from somewhere");
  }

  TEST_CASE("a number without a name is reported as a number") {
    const auto verdict = verdict_of({"call", "100000"});
    CHECK(verdict.call.empty());
    CHECK(verdict.call_number == 100000);
    CHECK(verdict.detail == "system call 100000");
  }

  TEST_CASE("the same for an ordinary user, whose sandbox is built in another way") {
    CHECK(in_child([]() -> std::string {
            if (::geteuid() == 0 && !become_user()) return "no user";
            return call_of(verdict_of({"change-root", "/x"}));
          }) == "chroot 161 /x from somewhere");
  }

  TEST_CASE("a path of any length and bytes is cut, and what is no text is no path") {
    const auto verdict = verdict_of({"change-root", std::string(5000, 'x')});
    CHECK(verdict.path == std::string(255, 'x'));
    // chroot(0), whose path lies nowhere.
    CHECK(verdict_of({"call", "161"}).path.empty());
  }

  TEST_CASE("where it came from are addresses in the program's code") {
    const auto verdict = verdict_of({"call", "250"});
    CHECK(verdict.entry != 0);
    constexpr std::uint64_t kFar = std::uint64_t{1} << 30U;
    const auto is_near = [&](std::uint64_t address) {
      return address + kFar > verdict.entry && address < verdict.entry + kFar;
    };
    CHECK(is_near(verdict.frames.at(0)));
    CHECK(std::ranges::count_if(verdict.frames, is_near) >= 3);
  }

  TEST_CASE("a forbidden call that is interrupted all the time is never made, and still ends it") {
    CHECK(run_once(hostile({"interrupted-call"})) == "violated");
  }

  TEST_CASE("so does one that is interrupted before anybody saw it, and followed by no other") {
    constexpr int kTimes = 20;  // who is faster is chance
    for (int i = 0; i < kTimes; ++i) CHECK(run_once(hostile({"interrupted-once"})) == "violated");
  }

  TEST_CASE("where no listener can be had the program is killed all the same, unnamed") {
    CHECK(in_child([]() -> std::string {
            if (!lack(Lacking::kListener)) return "no filter";
            auto warden = Warden::start(warden_program());
            if (!warden) return warden.error().to_text();
            const auto outcome = run(*warden, hostile({"call", "250"}));
            if (!outcome) return outcome.error().to_text();
            return describe(outcome) + " " + std::to_string(outcome->verdict.call_number) +
                   " tier " + to_string(outcome->tier);
          }) == "violated -1 tier A");
  }

  TEST_CASE("a warden goes on after violations, with several children at once") {
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    auto waits = warden->spawn(hostile({"stay"}));
    REQUIRE(waits);
    std::vector<Child> violators;
    for (int i = 0; i < 3; ++i) {
      auto child = warden->spawn(hostile({"call", "250"}));
      REQUIRE(child);
      violators.push_back(std::move(*child));
    }
    for (Child& child : violators) {
      const auto verdict = child.wait();
      REQUIRE(verdict);
      CHECK(verdict->call == "keyctl");
    }
    CHECK(describe(run(*warden, hostile({"hello"}))) == "exit 7 hello");
    waits->kill(Verdict::Kind::kKilled);
    const auto verdict = waits->wait();
    REQUIRE(verdict);
    CHECK(verdict->kind == Verdict::Kind::kKilled);
  }
}

}  // namespace mcpac::sandbox::test
