// Requests that no coroutine waits for: of a session, over a transport of memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "mcp/request_with_input.h"
#include "mcp/session.h"
#include "mcp/support_connected.h"
#include "mcp/support_wire.h"

using namespace mcpac;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using test::kPatience;
using test::Wire;

namespace {

struct World {
  World() { session->start(); }
  ~World() { session->kill(); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  std::int64_t begin(std::chrono::milliseconds timeout, mcp::Session::Done done) {
    mcp::RequestOptions options;
    options.wants_progress = true;
    Json params = Json::object();
    return session->begin_then("tools/call", params, std::move(options), timeout, std::move(done));
  }
  // One whose end is in `ends`, by its name.
  std::int64_t begin(const std::string& name, std::chrono::milliseconds timeout = kPatience) {
    return begin(timeout, [this, name](const Result<mcp::Reply>& reply) {
      ends.push_back(name + ": " + (reply ? to_text(reply->result) : to_string(reply.error().id)));
      errors.push_back(reply ? "" : reply.error().to_text());
    });
  }
  void comes(const std::string& line) const { wire->events.on_message(line, std::nullopt); }
  void answer(std::int64_t id) const {
    comes(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{"n":)" +
          std::to_string(id) + "}}");
  }
  // All that can be done now.
  void go_on() {
    loop.restart();
    loop.poll();
  }
  void until(std::size_t count) {
    loop.restart();
    while (ends.size() < count && loop.run_one() > 0) {
    }
  }

  asio::io_context loop;
  std::shared_ptr<Wire> wire = std::make_shared<Wire>();
  std::shared_ptr<mcp::Session> session = std::make_shared<mcp::Session>(
      loop.get_executor(), "one", wire, std::make_shared<const mcp::SecretValues>(), mcp::Events());
  std::vector<std::string> ends;
  std::vector<std::string> errors;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE("mcp/started_request") {
  TEST_CASE("answers are told once, in their order, and not from inside of what brings them") {
    World world;
    const auto first = world.begin("first");
    const auto second = world.begin("second");
    world.answer(second);
    world.answer(first);
    world.answer(second);
    CHECK(world.ends.empty());
    world.go_on();
    CHECK(world.ends == Texts{R"(second: {"n":2})", R"(first: {"n":1})"});
  }

  TEST_CASE("an error is told as the one that a coroutine gets") {
    const auto refuse = [](World& world) {
      world.comes(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":5}})");
    };
    World told;
    told.begin("told");
    refuse(told);
    told.go_on();
    World waited;
    std::optional<Result<mcp::Reply>> reply;
    asio::co_spawn(
        waited.loop,
        waited.session->request("tools/call", Json::object(), kPatience, mcp::RequestOptions()),
        [&](const std::exception_ptr&, Result<mcp::Reply> given) { reply = std::move(given); });
    waited.go_on();
    refuse(waited);
    waited.go_on();
    REQUIRE(reply.has_value());
    REQUIRE_FALSE(reply->has_value());
    CHECK(told.errors == Texts{reply->error().to_text()});
  }

  TEST_CASE("one whose time is up is told so, as is its server, and what comes late is nobody's") {
    World world;
    const auto id = world.begin("late", 1ms);
    world.until(1);
    CHECK(world.ends == Texts{"late: " + to_string(ErrorId::kServerTimeout)});
    CHECK(world.errors[0].contains("did not answer tools/call within 1 ms"));
    REQUIRE(world.wire->sent.size() == 2);
    CHECK(world.wire->sent[1].method == "notifications/cancelled");
    CHECK(world.wire->sent[1].line.contains("timed out"));
    CHECK(world.wire->abandoned == std::vector{id});
    world.answer(id);
    world.go_on();
    CHECK(world.ends.size() == 1);
  }

  TEST_CASE("a shorter time is kept beside a longer one that began before, and the other way") {
    World world;
    world.begin("longest", 1h);
    world.begin("longer", 50ms);
    world.begin("short", 1ms);
    world.until(2);
    const auto late = ": " + to_string(ErrorId::kServerTimeout);
    std::ranges::sort(world.ends);
    CHECK(world.ends == Texts{"longer" + late, "short" + late});
    world.begin("next", 1ms);
    world.until(3);
    CHECK(world.ends.back() == "next" + late);
    CHECK(world.wire->sent.size() == 4 + 3);
  }

  TEST_CASE("progress begins the time anew") {
    World world;
    world.begin("slow", 200ms);
    std::this_thread::sleep_for(20ms);
    const auto heard = std::chrono::steady_clock::now();
    world.comes(R"({"jsonrpc":"2.0","method":"notifications/progress",)"
                R"("params":{"progressToken":1,"progress":1}})");
    world.until(1);
    CHECK(std::chrono::steady_clock::now() >= heard + 200ms);
    CHECK(world.ends == Texts{"slow: " + to_string(ErrorId::kServerTimeout)});
  }

  TEST_CASE("one that is taken back is told so once, as is its server") {
    World world;
    const auto id = world.begin("first");
    const auto other = world.begin("other");
    world.session->cancel(id);
    world.session->cancel(id);
    world.answer(id);
    CHECK(world.ends.empty());
    world.go_on();
    CHECK(world.ends == Texts{"first: " + to_string(ErrorId::kServerCancelled)});
    REQUIRE(world.wire->sent.size() == 3);
    CHECK(world.wire->sent[2].line.contains(R"("reason":"cancelled")"));
    world.answer(other);
    world.go_on();
    world.session->cancel(other);
    world.go_on();
    CHECK(world.ends.size() == 2);
    CHECK(world.wire->sent.size() == 3);
  }

  TEST_CASE("of one that is taken back before it began to go, its server hears nothing") {
    World world;
    world.wire->has_gone = false;
    world.session->cancel(world.begin("one"));
    world.begin("two", 1ms);
    world.until(2);
    CHECK(world.ends == Texts{"one: " + to_string(ErrorId::kServerCancelled),
                              "two: " + to_string(ErrorId::kServerBusy)});
    CHECK(world.wire->sent.size() == 2);
  }

  TEST_CASE("of one that is taken back when its server's question has come, nobody is asked") {
    for (const bool is_taken_back : {false, true}) {
      CAPTURE(is_taken_back);
      World world;
      int asked = 0;
      mcp::CallEvents events;
      events.capabilities["elicitation"]["form"] = Json::object();
      events.answer = [&](std::string, Json) {
        ++asked;
        return test::decline();
      };
      mcp::RequestOptions options;
      options.events = std::make_shared<const mcp::CallEvents>(std::move(events));
      asio::cancellation_signal signal;
      std::optional<Result<mcp::Reply>> end;
      mcp::start_with_input(world.session,
                            {.method = "tools/call",
                             .params = Json::object(),
                             .timeout = kPatience,
                             .options = std::move(options),
                             .slot = signal.slot(),
                             .done = [&](Result<mcp::Reply> reply) { end = std::move(reply); }});
      world.comes(R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required",)"
                  R"("inputRequests":{"q":{"method":"elicitation/create"}}}})");
      if (is_taken_back) signal.emit(asio::cancellation_type::terminal);
      world.go_on();
      CHECK(asked == (is_taken_back ? 0 : 1));
      CHECK(end.has_value() == is_taken_back);
      if (end) CHECK(end->error().id == ErrorId::kServerCancelled);
      world.session->kill();
      world.go_on();
      CHECK(end.has_value());
    }
  }

  TEST_CASE("when the server has ended all are told why, those that come later as well") {
    World world;
    world.begin("first");
    world.begin("second");
    world.wire->events.on_closed(fail(ErrorId::kServerDied, "it fell").error());
    world.begin("third");
    CHECK(world.ends.empty());
    world.go_on();
    const auto died = ": " + to_string(ErrorId::kServerDied);
    CHECK(world.ends == Texts{"first" + died, "second" + died, "third" + died});
    CHECK(world.errors[2].contains("it fell"));
    CHECK(world.wire->sent.size() == 2);
  }

  TEST_CASE("one that its transport gives up is told why") {
    World world;
    const auto id = world.begin("one");
    world.wire->events.on_request_failed(id, fail(ErrorId::kServerLimit, "too much").error());
    world.go_on();
    CHECK(world.ends == Texts{"one: " + to_string(ErrorId::kServerLimit)});
  }

  TEST_CASE("whoever is told may begin the next one, and may end the session") {
    World world;
    const auto id = world.begin(kPatience, [&](const Result<mcp::Reply>& reply) {
      REQUIRE(reply.has_value());
      world.begin("next");
      world.session->kill();
      world.begin("last");
    });
    world.answer(id);
    world.go_on();
    const auto died = ": " + to_string(ErrorId::kServerDied);
    CHECK(world.ends == Texts{"next" + died, "last" + died});
    CHECK(world.wire->is_killed);
  }

  TEST_CASE("nobody is told by a loop that has ended, and nothing of theirs is left") {
    const auto held = std::make_shared<int>(0);
    {
      World world;
      for (int i = 0; i < 2; ++i)
        world.begin(kPatience, [held](const Result<mcp::Reply>&) { ++*held; });
      world.answer(1);
    }
    CHECK(*held == 0);
    CHECK(held.use_count() == 1);
  }
}
