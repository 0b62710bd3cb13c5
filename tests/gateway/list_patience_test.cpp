// How long clients wait for what a server has, where the server does not say it.
#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "gate/support_gate.h"
#include "gateway/server_lists.h"
#include "gateway/support_offers.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

using Outcome = gate::Servers::Outcome;

// One server, whose answers come when the test says so.
struct World {
  explicit World(const ListPatience::Spans& spans = {})
      : lists(
            servers, loop.get_executor(), clock,
            [this](const std::string& text) { warnings.push_back(text); }, spans) {
    clock.stop();
    servers.add("fs", Json::array({{{"uri", "x://a"}, {"name", "n"}}}));
  }
  // Answers with a list, or with an error of `text`.
  void answer(const std::string& text) {
    servers.servers["fs"].answers["resources/list"] = [text](const Json&) -> Result<Outcome> {
      return fail(ErrorId::kServerError, text);
    };
  }
  void ask() {
    is_told = false;
    lists.get(ListKind::kResources, {"fs"}, [this](const ListsByServer& told) {
      is_told = true;
      list = told.at("fs");
    });
  }
  [[nodiscard]] std::size_t asked() const { return servers.count("resources/list"); }

  boost::asio::io_context loop;
  gate::testing::WorldClock clock;
  FakeServers servers;
  std::vector<std::string> warnings;
  ServerLists lists;
  bool is_told = false;
  ServerList list;
};

constexpr ListPatience::Spans kShort{.first = std::chrono::milliseconds(1),
                                     .later = std::chrono::milliseconds(1)};

}  // namespace

TEST_SUITE("gateway/list_patience") {
  TEST_CASE("a silent server is waited for once, and what it says later is there for the next") {
    World world(kShort);
    world.ask();
    CHECK_FALSE(world.is_told);
    world.loop.run();
    CHECK(world.is_told);
    CHECK_FALSE(world.list);
    world.ask();
    CHECK(world.is_told);
    CHECK_FALSE(world.list);
    CHECK(world.asked() == 1);
    REQUIRE(world.warnings.size() == 1);
    CHECK(world.warnings[0].find("fs gives no resources/list") != std::string::npos);
    world.servers.deliver();
    world.ask();
    CHECK(world.is_told);
    CHECK(world.list);
    CHECK(world.asked() == 1);
  }

  TEST_CASE("a server that fails is asked again after a pause, and after a longer one") {
    World world;
    world.answer("it broke");
    const auto ask = [&] {
      world.ask();
      world.servers.deliver();
      CHECK(world.is_told);
      return world.asked();
    };
    CHECK(ask() == 1);
    world.clock.pass(std::chrono::seconds(29));
    CHECK(ask() == 1);
    world.clock.pass(std::chrono::seconds(1));
    CHECK(ask() == 2);
    world.clock.pass(std::chrono::seconds(59));
    CHECK(ask() == 2);
    world.clock.pass(std::chrono::seconds(1));
    CHECK(ask() == 3);
    CHECK(world.warnings.size() == 1);
    // Started again it may be another.
    world.servers.add("fs", Json::array({{{"uri", "x://a"}, {"name", "n"}}}));
    world.lists.began_anew("fs");
    CHECK(ask() == 4);
    CHECK(world.list);
    world.clock.pass(std::chrono::minutes(5));
    world.answer("again");
    CHECK(ask() == 5);
    CHECK(world.warnings.size() == 2);
    CHECK(world.list);
  }

  TEST_CASE("a change that a silent server announces makes nobody wait for it again") {
    World world(kShort);
    world.ask();
    world.loop.run();
    world.lists.forget("fs", ListKind::kResources);
    world.ask();
    CHECK(world.is_told);
    CHECK(world.asked() == 1);
  }

  TEST_CASE("who was late once is waited for shortly, until it answers in time") {
    ListPatience patience{ListPatience::Spans{}};
    const ListPatience::Time now{std::chrono::hours(1)};
    CHECK(patience.span() == std::chrono::seconds(30));
    CHECK(patience.lose());
    CHECK_FALSE(patience.lose());
    patience.rest(now);
    CHECK_FALSE(patience.may_ask(now));
    patience.began_anew();
    CHECK(patience.may_ask(now));
    CHECK(patience.span() == std::chrono::seconds(5));
    for (int i = 0; i < 20; ++i) patience.rest(now);
    CHECK(patience.may_ask(now + std::chrono::minutes(10)));
    patience.answered_in_time();
    CHECK(patience.span() == std::chrono::seconds(30));
    CHECK(patience.lose());
  }

  TEST_CASE(
      "a cursor that is longer than 8,192 bytes ends the reading of a list, and that is said") {
    for (const std::size_t length : {8'192U, 8'193U}) {
      CAPTURE(length);
      World world;
      world.servers.servers["fs"].answers["resources/list"] =
          [length](const Json& params) -> Result<Outcome> {
        Json page{{"resources", Json::array()}};
        if (!params.contains("cursor")) page["nextCursor"] = std::string(length, 'c');
        return Outcome(page);
      };
      world.ask();
      world.servers.deliver();
      CHECK(world.is_told);
      CHECK((world.list != nullptr) == (length == 8'192));
      CHECK(world.warnings.size() == (length == 8'192 ? 0 : 1));
    }
  }
}
