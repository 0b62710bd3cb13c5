// Calls as they go to the servers of a run, from before these are there until after they have
// ended.
#include "execute/host/upstreams.h"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "places.h"

using namespace mcpac;
using namespace std::chrono_literals;
using execute::Upstreams;
namespace asio = boost::asio;

namespace {

// One call, and how it ended.
struct Call {
  Call(Upstreams& upstreams, const std::string& tool, Json arguments = Json::object())
      : token(upstreams.forward(Permission::parse("one." + tool).value(), std::move(arguments),
                                nullptr, [given = result](Result<Json> told) {
                                  REQUIRE_FALSE(given->has_value());
                                  *given = std::move(told);
                                })) {}
  [[nodiscard]] bool has_ended() const { return result->has_value(); }
  [[nodiscard]] std::string text() const {
    REQUIRE(has_ended());
    const auto& given = **result;
    return given ? string_member(given->at("content").at(0), "text") : given.error().to_text();
  }
  [[nodiscard]] ErrorId error() const {
    REQUIRE(has_ended());
    REQUIRE_FALSE((*result)->has_value());
    return (*result)->error().id;
  }

  std::shared_ptr<std::optional<Result<Json>>> result =
      std::make_shared<std::optional<Result<Json>>>();
  Upstreams::CallToken token;
};

struct World {
  World() {
    config.name = "one";
    config.command = "node";
    config.arguments = {testing::in_source("tests/servers/fixture.mjs"), "plain"};
    upstreams->start_again_what_ends();
    upstreams->start(config);
  }
  ~World() {
    if (upstreams) close();
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  template <class Ready>
  void until(Ready ready) {
    loop.restart();
    while (!ready() && loop.run_one() > 0) {
    }
  }
  void until_started() {
    until([&] { return upstreams->is_settled("one"); });
  }
  void until(const Call& call) {
    until([&] { return call.has_ended(); });
  }
  [[nodiscard]] std::string ended(const std::string& tool, Json arguments = Json::object()) {
    const Call call(*upstreams, tool, std::move(arguments));
    until(call);
    return call.text();
  }
  void close() {
    bool is_closed = false;
    asio::co_spawn(loop, upstreams->close(), [&](const std::exception_ptr&) { is_closed = true; });
    until([&] { return is_closed; });
  }

  asio::io_context loop;
  codegen::Lock lock;  // of none: what is not locked has not drifted
  mcp::ServerConfig config;
  std::unique_ptr<Upstreams> upstreams = std::make_unique<Upstreams>(loop.get_executor(), lock);
};

const Json kHello{{"apple", "hello"}};

}  // namespace

TEST_SUITE("execute/upstreams") {
  TEST_CASE("a call waits for a server that starts, and one that is there has it at once") {
    World world;
    world.until([&] { return world.upstreams->starts("one") == 1; });
    const Call early(*world.upstreams, "echo", kHello);
    world.until(early);
    CHECK(early.text() == R"({"apple":"hello"})");
    CHECK(world.ended("echo", kHello) == R"({"apple":"hello"})");
    CHECK(world.ended("rpc_error").contains("-32602"));
  }

  TEST_CASE("who waited for a server that starts is not overtaken by who comes when it is there") {
    World world;
    world.until([&] { return world.upstreams->starts("one") == 1; });
    std::string order;
    const auto call = [&](const std::string& name) {
      world.upstreams->forward(Permission::parse("one.echo").value(), kHello, nullptr,
                               [&order, name](const Result<Json>&) { order += name; });
    };
    world.upstreams->on_settled([&] { call("late;"); });
    call("early;");
    call("second;");
    world.until([&] { return order.size() >= 18; });
    CHECK(order == "early;second;late;");
  }

  TEST_CASE("a call that is taken back ends once, and its server hears of it") {
    World world;
    world.until_started();
    const Call call(*world.upstreams, "hang");
    world.upstreams->cancel(call.token);
    world.upstreams->cancel(call.token);
    CHECK_FALSE(call.has_ended());
    world.until(call);
    CHECK(call.error() == ErrorId::kServerCancelled);
    world.upstreams->cancel(call.token);
    CHECK(world.ended("cancelled").contains(R"("reason":"cancelled")"));
  }

  TEST_CASE("a server that dies is started again by the next call, and that call waits") {
    World world;
    world.until_started();
    const Call other(*world.upstreams, "hang");
    const Call last(*world.upstreams, "die");
    world.until([&] { return other.has_ended() && last.has_ended(); });
    CHECK(other.error() == ErrorId::kServerDied);
    CHECK(last.error() == ErrorId::kServerDied);
    CHECK(world.ended("echo", kHello) == R"({"apple":"hello"})");
    CHECK(world.upstreams->restarts() == 1);
  }

  TEST_CASE("whoever hears of the end of a call may make the next one, and take one back") {
    World world;
    world.until_started();
    const Call hanging(*world.upstreams, "hang");
    std::optional<Call> next;
    world.upstreams->forward(Permission::parse("one.echo").value(), kHello, nullptr,
                             [&](const Result<Json>& result) {
                               CHECK(result.has_value());
                               next.emplace(*world.upstreams, "echo", kHello);
                               world.upstreams->cancel(hanging.token);
                             });
    world.until([&] { return next && next->has_ended() && hanging.has_ended(); });
    CHECK(next->text() == R"({"apple":"hello"})");
    CHECK(hanging.error() == ErrorId::kServerCancelled);
  }

  TEST_CASE("calls without an answer are told when the servers are closed") {
    World world;
    world.until_started();
    const Call one(*world.upstreams, "hang");
    const Call other(*world.upstreams, "hang");
    world.close();
    CHECK(one.error() == ErrorId::kServerDied);
    CHECK(other.error() == ErrorId::kServerDied);
  }

  TEST_CASE("where the loop ends first, nobody is told, and nothing of a call is left") {
    std::shared_ptr<std::optional<Result<Json>>> result;
    {
      World world;
      world.until_started();
      result = Call(*world.upstreams, "hang").result;
      world.upstreams.reset();
    }
    CHECK(result.use_count() == 1);
  }
}
