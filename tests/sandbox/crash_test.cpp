// How a program crashed: its stack ran out, or it had all threads that it may have, or a file could
// not grow. And that whoever watches for it changes nothing.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <csignal>

#include "core/file.h"
#include "sandbox/support_sandbox.h"

namespace mcpac::sandbox::test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

Verdict verdict_of(const Spec& spec) {
  auto warden = Warden::start(warden_program());
  REQUIRE(warden);
  const auto outcome = run(*warden, spec);
  REQUIRE(outcome);
  return outcome->verdict;
}

std::string limit_of(const Verdict& verdict) {
  if (!verdict.limit) return "none";
  return verdict.limit->name + " " + std::to_string(verdict.limit->used) + " of " +
         std::to_string(verdict.limit->allowed);
}

std::string crash_of(const Verdict& verdict) {
  return std::string(verdict.kind == Verdict::Kind::kSignalled ? "signal " : "? ") +
         std::to_string(verdict.code) + ": " + verdict.detail;
}

// A file of 1 MiB at most, as standard output.
Spec filling(const std::string& exit_code, const UniqueFd& file) {
  Spec spec = hostile({"fill", exit_code});
  spec.limits.file_size = kMiB;
  spec.standard_output = file.get();
  return spec;
}

}  // namespace

TEST_SUITE("sandbox/crash") {
  TEST_CASE("a stack that runs out is told from other crashes, and its size is said") {
    for (const char* way : {"overflow", "overflow-at-once"}) {
      CAPTURE(way);
      const auto verdict = verdict_of(hostile({way}));
      CHECK(crash_of(verdict) == "signal 11: stack overflow: 8 MiB stack");
      REQUIRE(verdict.limit);
      CHECK(verdict.limit->name == "stack");
      CHECK(verdict.limit->allowed == 8 * kMiB);
      CHECK(verdict.limit->used > 7 * kMiB);
    }
    CHECK(verdict_of(hostile({"overflow-at-once"})).limit->used > 40 * kMiB);
    CHECK(run_once(hostile({"deep"})) == "exit 0");
  }

  TEST_CASE("a compiler's stack is larger, and its size is said as well") {
    const auto verdict = verdict_of(hostile({"overflow"}, kCompiler));
    CHECK(crash_of(verdict) == "signal 11: stack overflow: 64 MiB stack");
    CHECK(run_once(hostile({"overflow-at-once"}, kCompiler)) == "exit 0");
  }

  TEST_CASE("a null pointer, and a pointer to below the stack, are what they were") {
    for (const char* way : {"crash", "crash-below-stack"}) {
      CAPTURE(way);
      const auto verdict = verdict_of(hostile({way}));
      CHECK(crash_of(verdict) == "signal 11: invalid memory access");
      CHECK(limit_of(verdict) == "none");
    }
  }

  TEST_CASE("abort() is named where its signal has no effect and it ends by another") {
    CHECK(crash_of(verdict_of(hostile({"abort"}))) == "signal 11: abort()");
    CHECK(in_child([]() -> std::string {
            if (!lack(Lacking::kNamespaces)) return "no filter";
            Spec spec = hostile({"abort"});
            spec.lowest_tier = Tier::kB;
            return crash_of(verdict_of(spec));
          }) == "signal 6: abort()");
  }

  TEST_CASE("a breakpoint ends a program, the first process of a pid namespace as well") {
    const auto verdict = verdict_of(hostile({"breakpoint"}));
    CHECK(crash_of(verdict) == "signal 5: ");
    CHECK(verdict.frames.size() > 1);
    CHECK(run_once(hostile({"breakpoint-handled"})) == "exit 3");
    CHECK(in_child([]() -> std::string {
            if (!lack(Lacking::kNamespaces)) return "no filter";
            Spec spec = hostile({"breakpoint"});
            spec.lowest_tier = Tier::kB;
            return crash_of(verdict_of(spec));
          }) == "signal 5: ");
  }

  TEST_CASE("where it crashed are addresses in the program's code") {
    const auto verdict = verdict_of(hostile({"crash"}));
    CHECK(verdict.entry != 0);
    constexpr std::uint64_t kFar = std::uint64_t{1} << 30U;
    const auto is_near = [&](std::uint64_t address) {
      return address + kFar > verdict.entry && address < verdict.entry + kFar;
    };
    REQUIRE(verdict.frames.size() > 1);
    CHECK(is_near(verdict.frames.front()));
    CHECK(std::ranges::count_if(verdict.frames, is_near) >= 2);
  }

  TEST_CASE("the same for an ordinary user, and without namespaces") {
    CHECK(in_child([]() -> std::string {
            if (::geteuid() == 0 && !become_user()) return "no user";
            return crash_of(verdict_of(hostile({"overflow"})));
          }) == "signal 11: stack overflow: 8 MiB stack");
    CHECK(in_child([]() -> std::string {
            if (!lack(Lacking::kNamespacesAndLandlock)) return "no filter";
            Spec spec = hostile({"overflow"});
            spec.lowest_tier = Tier::kC;
            return crash_of(verdict_of(spec));
          }) == "signal 11: stack overflow: 8 MiB stack");
  }

  TEST_CASE("where nobody may trace, a crash is told by its signal, and doctor says so") {
    CHECK(in_child([]() -> std::string {
            if (!lack(Lacking::kTracing)) return "no filter";
            auto warden = Warden::start(warden_program());
            const auto probe = warden ? warden->probe() : std::unexpected(warden.error());
            if (!probe) return probe.error().to_text();
            std::string text = std::string("tier ") + (probe->tier ? to_string(*probe->tier) : "?");
            for (const Capability& capability : probe->capabilities) {
              if (capability.name == "crash watch") text += capability.works ? ", works" : ", not";
            }
            const auto outcome = run(*warden, hostile({"overflow"}));
            if (!outcome) return outcome.error().to_text();
            return text + "; " + crash_of(outcome->verdict) + "; " + limit_of(outcome->verdict);
          }) ==
          "tier A, not; signal 11: invalid memory access, or abort(): the first process of a pid "
          "namespace ends so, too; none");
  }

  TEST_CASE("a crash that the program handles is not how it ended") {
    const auto verdict = verdict_of(hostile({"crash-and-go-on"}));
    CHECK(verdict.kind == Verdict::Kind::kExited);
    CHECK(verdict.code == 42);
    CHECK(verdict.detail.empty());
    CHECK(verdict.frames.empty());
  }

  TEST_CASE("a crash with all threads that there may be names that limit") {
    Spec spec = hostile({"threads-or-abort"});
    spec.limits.processes = 9;
    CHECK(limit_of(verdict_of(spec)) == "processes 9 of 9");
    CHECK(limit_of(verdict_of(hostile({"abort"}))) == "none");
  }

  TEST_CASE("the crash of another thread than the first is told as such") {
    const auto crash = verdict_of(hostile({"crash-in-thread"}));
    CHECK(crash_of(crash) == "signal 11: invalid memory access, or abort()");
    CHECK(crash.note == "in another thread than its first");
    CHECK(crash.frames.empty());
    // abort() has no signal of its own for the first process of a pid namespace, in any thread.
    CHECK(verdict_of(hostile({"abort-in-thread"})).note == crash.note);
    CHECK(verdict_of(hostile({"crash"})).note.empty());
    CHECK(verdict_of(hostile({"abort"})).note.empty());
    CHECK(in_child([]() -> std::string {
            if (!lack(Lacking::kNamespaces)) return "no filter";
            Spec spec = hostile({"abort-in-thread"});
            spec.lowest_tier = Tier::kB;
            const auto verdict = verdict_of(spec);
            return crash_of(verdict) + " " + verdict.note;
          }) == "signal 6: abort() in another thread than its first");
  }

  TEST_CASE("a file that could not grow is named, however the program took it") {
    for (const char* code : {"0", "3"}) {
      CAPTURE(code);
      const UniqueFd file(::memfd_create("output", MFD_CLOEXEC));
      const auto verdict = verdict_of(filling(code, file));
      CHECK(verdict.kind == Verdict::Kind::kExited);
      CHECK(verdict.code == std::stoi(code));
      CHECK(limit_of(verdict) == "file-size 1048576 of 1048576");
    }
  }

  TEST_CASE("signals without an end reach nobody else, and all of them reach the program") {
    auto warden = Warden::start(warden_program());
    REQUIRE(warden);
    CHECK(describe(run(*warden, hostile({"signal-flood"}))) == "exit 0");
    CHECK(describe(run(*warden, hostile({"hello"}))) == "exit 7 hello");
  }

  TEST_CASE("who has no files cannot say that one grew too large") {
    const auto verdict = verdict_of(hostile({"lie-about-files"}));
    CHECK(verdict.kind == Verdict::Kind::kExited);
    CHECK(verdict.code == 3);
    CHECK(limit_of(verdict) == "none");
    CHECK(verdict.detail.empty());
  }

  TEST_CASE("the first process of a pid namespace does not stop for itself, and others do") {
    CHECK(run_once(hostile({"stop-then-leave"})) == "exit 7");
    CHECK(in_child([]() -> std::string {
            if (!lack(Lacking::kNamespaces)) return "no filter";
            Spec spec = hostile({"stop-then-leave"});
            spec.lowest_tier = Tier::kB;
            spec.limits.wall = std::chrono::milliseconds(300);
            return run_once(spec);
          }) == "timed out");
  }
}

}  // namespace mcpac::sandbox::test
