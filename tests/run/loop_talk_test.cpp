// What the loop of a run says comes to its listener on another thread, and the loop never waits.
#include "run/loop_talk.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace mcpac;
using namespace mcpac::run;
using namespace std::chrono_literals;

namespace {

struct Heard {
  std::vector<std::string> lines;
  Listener listener;
  Heard() {
    listener.log = [this](std::string_view level, std::string_view text) {
      lines.push_back(std::string(level) + " " + std::string(text));
    };
    listener.warning = [this](std::string_view text) { lines.push_back("! " + std::string(text)); };
  }
};

bool is_readable(int descriptor) {
  pollfd ready{descriptor, POLLIN, 0};
  return ::poll(&ready, 1, 0) > 0;
}

std::chrono::steady_clock::time_point soon() {
  return std::chrono::steady_clock::now() + 20ms;
}

}  // namespace

TEST_SUITE("execute/loop talk") {
  TEST_CASE("what is said comes in its order, when it is asked for, and says so before") {
    Heard heard;
    LoopTalk talk(heard.listener);
    const auto beside = talk.beside();
    CHECK_FALSE(is_readable(beside.descriptor));
    talk.log("info", "one");
    talk.warn("two");
    talk.log("error", "");
    CHECK(heard.lines.empty());
    CHECK(is_readable(beside.descriptor));
    CHECK(beside.pass_on());
    CHECK(beside.pass_on());
    CHECK(is_readable(beside.descriptor));
    CHECK_FALSE(beside.pass_on());
    CHECK_FALSE(is_readable(beside.descriptor));
    CHECK_FALSE(beside.pass_on());
    CHECK(heard.lines == std::vector<std::string>{"info one", "! two", "error "});
  }

  TEST_CASE(
      "lines that nobody takes fill no memory: what comes beyond is counted, and that is said") {
    Heard heard;
    LoopTalk talk(heard.listener);
    const std::string text(4000, 'x');
    for (int i = 0; i < 2000; ++i) talk.log("info", text);
    talk.warn("not lost");
    for (int i = 0; i < 100'000; ++i) talk.log("info", "");
    talk.pass_on_rest({}, soon());
    REQUIRE(heard.lines.size() > 3);
    const std::size_t log_lines = heard.lines.size() - 2;
    CHECK(log_lines > 500);
    CHECK(log_lines < 1200);
    CHECK(heard.lines.back() ==
          "! " + std::to_string(102'000 - log_lines) +
              " lines that the program logged are left out: nobody took those before them");
    CHECK(std::ranges::count(heard.lines, "! not lost") == 1);
    // What was taken makes room.
    talk.log("info", text);
    talk.pass_on_rest({}, soon());
    CHECK(heard.lines.back() == "info " + text);
  }

  TEST_CASE("the rest is given up when nobody reads, or when the run is to stop") {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    const UniqueFd reader(ends[0]);
    const UniqueFd writer(ends[1]);
    const std::string block(4096, '.');
    while (::write(writer.get(), block.data(), block.size()) > 0) {
    }
    Heard heard;
    heard.listener.log_sink = writer.get();
    LoopTalk talk(heard.listener);
    talk.log("info", "one");
    talk.pass_on_rest({}, soon());
    const UniqueFd stop(::eventfd(1, EFD_CLOEXEC));
    talk.pass_on_rest({stop.get()}, std::chrono::steady_clock::now() + 1h);
    CHECK(heard.lines.empty());
    std::string room(std::size_t{1} << 16U, ' ');
    REQUIRE(::read(reader.get(), room.data(), room.size()) > 0);
    talk.pass_on_rest({stop.get()}, soon());
    CHECK(heard.lines.size() == 1);
  }
}
