// What never ends, never stops growing, or never says enough.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include "hostile/support_matrix.h"

namespace mcpac::hostile {
namespace {

using sandbox::Spec;

// The controls of these would run for ever, too.
Row endless(const std::string& name, const std::string& inside, const std::string& below = "") {
  return {name, inside, Control::kNone, "has no end", below};
}

}  // namespace

TEST_SUITE("hostile/limits") {
  TEST_CASE("what has no end is ended by the wall clock, whatever it ignores or closes") {
    const auto soon = [](Spec& spec, const std::filesystem::path&) {
      spec.limits.wall = std::chrono::milliseconds(150);
    };
    check(
        {
            endless("spin", "timed out"),
            endless("sleep_on", "timed out"),
            endless("sleep_in_call", "timed out"),
            endless("ignore_signals", "timed out"),
            endless("close_and_stay", "timed out"),
            endless("leader_leaves", "timed out"),
            endless("flood_slowly", "timed out"),
            // The first process of a pid namespace does not stop for itself.
            endless("stop_itself", "works", "timed out"),
        },
        Input::kNothing, soon);
  }

  TEST_CASE("what computes without an end is ended by the CPU limit, all threads together") {
    const auto second = [](Spec& spec, const std::filesystem::path&) {
      spec.limits.cpu = std::chrono::seconds(1);
    };
    check({endless("spin_in_threads", "cpu limit")}, Input::kNothing, second);
  }

  TEST_CASE("memory beyond the limit is refused, however it is asked for") {
    const auto small = [](Spec& spec, const std::filesystem::path&) {
      spec.limits.memory = std::uint64_t{64} << 20U;
    };
    check(
        {
            {"memory_malloc", "ENOMEM"},
            {"memory_brk", "ENOMEM"},
            {"memory_grow", "ENOMEM"},
            {"memory_protect_late", "ENOMEM"},
            {"memory_reserve_all", "ENOMEM"},
            {"memory_grow_down", "EPERM"},
            {"memory_hide", "memory limit"},
            {"memory_hide_without_leader", "memory limit"},
            {"memory_hide_as_stack", "memory limit"},
            {"memory_allowed", "works"},
            {"stack_dive", "signal 11", Control::kNone, "crashes anywhere"},
        },
        Input::kNothing, small);
  }

  TEST_CASE("threads are counted, and looked at for an ordinary user without namespaces") {
    check({
        {"thread_work", "works"},
        // There RLIMIT_NPROC counts all processes of the user, so the warden looks.
        {"thread_bomb", "63 EAGAIN", Control::kWorks, "", "63 EAGAIN", "signal 9"},
    });
  }

  TEST_CASE("a crash ends the program, and no core of it is kept") {
    check({
        {"crash", "signal 11", Control::kNone, "crashes anywhere"},
        // The first process of a pid namespace does not die of SIGABRT.
        {"give_up", "signal 11", Control::kNone, "crashes anywhere", "signal 6"},
    });
  }

  TEST_CASE("a flood of output ends when nobody reads on") {
    // By EPIPE, as the first process of a pid namespace has no default signals.
    check({{"flood_output", "exit 12", Control::kNone, "ends with its reader", "signal 13"}});
  }

  TEST_CASE("a file cannot grow beyond the limit") {
    const UniqueFd file(::memfd_create("output", MFD_CLOEXEC));
    const auto into_file = [&](Spec& spec, const std::filesystem::path&) {
      spec.limits.file_size = std::uint64_t{1} << 20U;
      spec.standard_output = file.get();
    };
    check({{"fill_file", "exit 13", Control::kNone, "fills what it gets", "signal 25"}},
          Input::kNothing, into_file);
  }
}

}  // namespace mcpac::hostile
