// The door at standard input and output: what a server says does not end it, and what does is said.
#include "gateway/stdio_door.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "core/file.h"
#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;
using namespace std::chrono_literals;

namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    read = UniqueFd(ends[0]);
    write = UniqueFd(ends[1]);
  }
  UniqueFd read;
  UniqueFd write;
};

const Talk::Options kGrantedAtDoor{.declared = {"git.commit"}, .grants = {"git.commit"}};

// A client of the `initialize` era that has made calls and reads nothing yet.
struct DoorClient {
  explicit DoorClient(int calls) {
    auto made = run_parts(world, kGrantedAtDoor, folder.path() / "audit", "a client");
    run.emplace(std::move(made.parts), std::move(made.setup));
    auto opened = StdioDoor::open(loop.get_executor(), std::move(in.read), std::move(out.write),
                                  *run, [this](const std::string& why) { ended = why; });
    REQUIRE(opened.has_value());
    door = std::move(*opened);
    say(request("start", "initialize",
                {{"protocolVersion", "2025-11-25"},
                 {"capabilities", {{"elicitation", Json::object()}}},
                 {"clientInfo", {{"name", "c"}, {"version", "1"}}}}));
    say({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
    for (int id = 1; id <= calls; ++id)
      say(request(id, "tools/call", {{"name", "git.commit"}, {"_meta", {{"progressToken", id}}}}));
    REQUIRE(becomes([&] { return world.upstream.calls.size() == std::size_t(calls); }));
  }
  ~DoorClient() { door->close(); }

  void say(const Json& message) const {
    const std::string line = message.dump() + "\n";
    REQUIRE(::write(in.write.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  }
  bool becomes(const std::function<bool()>& condition) {
    for (int i = 0; i < 1'000 && !condition(); ++i) {
      loop.run_for(5ms);
      loop.restart();
    }
    return condition();
  }
  // All that comes until this part has.
  std::string read_until(const std::string& part) {
    std::string text;
    std::vector<char> piece(1U << 20U);
    std::size_t searched = 0;  // up to here it does not begin
    bool came = false;
    becomes([&] {
      for (ssize_t got = 1; got > 0;) {
        got = ::read(out.read.get(), piece.data(), piece.size());
        if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
      }
      came = came || text.find(part, searched) != std::string::npos;
      searched = text.size() < part.size() ? 0 : text.size() - part.size();
      return came;
    });
    CHECK(came);
    return text;
  }

  TemporaryFolder folder =
      TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-stdio-").value();
  boost::asio::io_context loop;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      loop.get_executor()};
  gate::testing::World world{kGrantedAtDoor};
  std::optional<ClientGrant> run;
  Pipe in;
  Pipe out;
  std::optional<std::string> ended;
  std::shared_ptr<StdioDoor> door;
};

}  // namespace

TEST_SUITE("gateway/stdio_door") {
  TEST_CASE(
      "progress of many calls that nobody reads does not end the client, whose answers come") {
    DoorClient client(100);
    const std::string report(60'000, 'x');
    for (const auto& call : client.world.upstream.calls) {
      for (int i = 0; i < 20; ++i) call.caller->progress({{"progress", i}, {"message", report}});
    }
    CHECK_FALSE(client.ended);
    for (std::size_t i = 0; i < 100; ++i)
      client.world.upstream.answer(i, gate::testing::text_result("done"));
    CHECK_FALSE(client.ended);
    const std::string text = client.read_until("\"id\":100,");
    CHECK(text.size() < std::size_t{10} << 20U);
    CHECK(text.find("notifications/progress") != std::string::npos);
  }

  TEST_CASE("questions that there is no room for are not asked, and whoever asked hears so") {
    DoorClient client(1);
    const auto caller = client.world.upstream.calls[0].caller;
    const Json form{{"message", std::string(4'000'000, 'x')}};
    int failed = 0;
    bool is_inside = true;
    for (int i = 0; i < 20; ++i) {
      caller->ask("elicitation/create", form, [&](const Result<Json>& reply) {
        CHECK_FALSE(is_inside);
        if (!reply) ++failed;
      });
    }
    is_inside = false;
    CHECK(client.becomes([&] { return failed > 15; }));
    CHECK_FALSE(client.ended);
    client.world.upstream.answer(0, gate::testing::text_result("done"));
    CHECK(client.read_until("\"id\":1,").find("mcpac-1") != std::string::npos);
    CHECK_FALSE(client.ended);
  }

  TEST_CASE("a large question behind small lines of the same turn is asked: nothing was unread") {
    DoorClient client(1);
    const auto caller = client.world.upstream.calls[0].caller;
    int failed = 0;
    for (int i = 0; i < 3; ++i) caller->progress({{"progress", i}});
    caller->ask("elicitation/create", {{"message", std::string(9'000'000, 'x')}},
                [&](const Result<Json>&) { ++failed; });
    CHECK(client.read_until("mcpac-1").find("\"progress\":2") != std::string::npos);
    CHECK(failed == 0);
  }

  TEST_CASE("answers that there is no room for end the client, and it is said why") {
    DoorClient client(20);
    const Json answer = gate::testing::text_result(std::string(5'000'000, 'x'));
    for (std::size_t i = 0; i < 20 && !client.ended; ++i) client.world.upstream.answer(i, answer);
    REQUIRE(client.ended);
    CHECK(client.ended->find("did not read") != std::string::npos);
  }

  TEST_CASE("a client that goes by itself is none of the user's business") {
    DoorClient client(1);
    client.in.write.reset();
    client.world.upstream.answer(0, gate::testing::text_result("done"));
    CHECK(client.becomes([&] { return client.ended.has_value(); }));
    CHECK(client.ended == "");
  }
}
