// Attending to a process: its clock and whoever stops it are looked at, whatever is said and
// whoever does not read it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "places.h"
#include "toolchain/child/stage.h"

using namespace mcpac;
using namespace std::chrono_literals;
using EndKind = sandbox::Verdict::Kind;

namespace {

struct Pipe {
  UniqueFd reader;
  UniqueFd writer;
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    reader = UniqueFd(ends[0]);
    writer = UniqueFd(ends[1]);
  }
  // Takes no more, until somebody reads.
  void fill() const {
    const int flags = ::fcntl(writer.get(), F_GETFL);
    ::fcntl(writer.get(), F_SETFL, flags | O_NONBLOCK);
    const std::string block(4096, '.');
    while (::write(writer.get(), block.data(), block.size()) > 0) {
    }
    ::fcntl(writer.get(), F_SETFL, flags);
  }
};

// Takes what comes, and forgets it.
toolchain::ChildIo quiet(toolchain::ChildIo::Beside beside = {}) {
  return {.standard_output = [](std::string_view) { return true; },
          .standard_error = [](std::string_view) { return true; },
          .beside = std::move(beside)};
}

struct Sandbox {
  sandbox::Warden warden =
      sandbox::Warden::start(mcpac::testing::in_build("libexec/mcpac/mcpac-warden")).value();

  // `hostile WORDS…` (tests/sandbox/hostile), with so much time.
  toolchain::PipedChild start(std::vector<std::string> words, std::chrono::milliseconds wall) {
    sandbox::Spec spec;
    spec.program = mcpac::testing::in_build("tests/sandbox_hostile");
    spec.arguments = std::move(words);
    spec.arguments.insert(spec.arguments.begin(), "hostile");
    spec.lowest_tier = sandbox::Tier::kC;
    spec.limits.wall = wall;
    spec.limits.memory = std::uint64_t{256} << 20U;
    auto child = toolchain::start_child(warden, std::move(spec));
    REQUIRE(child.has_value());
    return std::move(*child);
  }
};

}  // namespace

TEST_SUITE("execute/attend") {
  TEST_CASE("a wall limit that is longer than one wait is kept") {
    Sandbox box;
    const auto verdict = toolchain::attend(box.start({"stay"}, 400ms), quiet(), {}, 20ms);
    REQUIRE(verdict.has_value());
    CHECK(verdict->kind == EndKind::kTimedOut);
    CHECK(verdict->wall >= 400ms);
    // One that ends before is not ended.
    const auto whole = toolchain::attend(box.start({"hello"}, 60s), quiet(), {}, 1ms);
    REQUIRE(whole.has_value());
    CHECK(whole->kind == EndKind::kExited);
    CHECK(whole->code == 7);
  }

  TEST_CASE("the wall limit is looked at also where there is always something to do") {
    Sandbox box;
    const UniqueFd always(::eventfd(1, EFD_CLOEXEC));
    int lines = 0;
    const auto verdict = toolchain::attend(
        box.start({"flood"}, 300ms),
        quiet({.descriptor = always.get(), .pass_on = [&lines] { return ++lines > 0; }}), {});
    REQUIRE(verdict.has_value());
    CHECK(verdict->kind == EndKind::kTimedOut);
    CHECK(lines > 0);
  }

  TEST_CASE("what is said beside waits for its reader, and the clock does not") {
    Sandbox box;
    Pipe sink;
    sink.fill();
    const UniqueFd some(::eventfd(1, EFD_CLOEXEC));
    int lines = 0;
    const toolchain::ChildIo::Beside beside{.descriptor = some.get(),
                                            .sink = sink.writer.get(),
                                            .pass_on = [&lines] { return ++lines < 0; }};
    const auto verdict = toolchain::attend(box.start({"stay"}, 200ms), quiet(beside), {});
    REQUIRE(verdict.has_value());
    CHECK(verdict->kind == EndKind::kTimedOut);
    CHECK(lines == 0);
    std::string room(std::size_t{1} << 16U, ' ');
    REQUIRE(::read(sink.reader.get(), room.data(), room.size()) > 0);
    CHECK(toolchain::attend(box.start({"stay"}, 200ms), quiet(beside), {}).has_value());
    CHECK(lines > 0);
  }

  TEST_CASE(
      "output waits while its gate is closed, and whoever closes it waits for nobody for long") {
    Sandbox box;
    const Pipe sink;
    toolchain::OutputGate gate;
    gate.close();
    std::string said;
    const auto into = [&said](std::string_view piece) {
      said += piece;
      return true;
    };
    const auto io = [&] {
      return toolchain::ChildIo{.standard_output = into,
                                .standard_error = into,
                                .output_sink = sink.writer.get(),
                                .error_sink = sink.writer.get(),
                                .gate = &gate};
    };
    const auto held = toolchain::attend(box.start({"hello"}, 300ms), io(), {});
    REQUIRE(held.has_value());
    CHECK(held->kind == EndKind::kExited);  // and nobody heard it
    CHECK(held->wall >= 300ms);
    CHECK(said.empty());
    std::thread opens([&gate] {
      std::this_thread::sleep_for(100ms);
      gate.open();
    });
    const auto heard = toolchain::attend(box.start({"hello"}, 60s), io(), {});
    opens.join();
    REQUIRE(heard.has_value());
    CHECK(heard->kind == EndKind::kExited);
    CHECK(said.find("hello") != std::string::npos);
    // One who passes through and does not come out again.
    REQUIRE(gate.enter());
    gate.close();
    CHECK_FALSE(gate.is_open());
    gate.leave();
    CHECK_FALSE(gate.enter());
  }
}
