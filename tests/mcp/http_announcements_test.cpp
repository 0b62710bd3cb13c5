// What a server over HTTP announces, and the streams that this comes on.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>

#include "mcp/support_http.h"

using namespace mcpac;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using namespace test;

namespace {

// What each GET asked to go on after.
Json events_asked_for(const Json& log) {
  Json events = Json::array();
  for (const Json& entry : log) {
    if (entry["method"] == "GET") events.push_back(entry["event"]);
  }
  return events;
}

}  // namespace

TEST_SUITE("mcp/http_announcements") {
  TEST_CASE("a changed list of tools is announced, in both eras") {
    for (const std::string mode : {"initialize", "stateless"}) {
      HttpFixture web({mode});
      ConnectedOverHttp server(web.config("/sse"), true);
      REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
      // The stream of announcements opens beside the calls, so ask until it is there.
      for (int i = 0; i < 200 && server.changes == 0; ++i) {
        CHECK(text_of(server.call("change")) == "changed");
        asio::steady_timer timer(server.loop, 20ms);
        server.loop.restart();
        bool rang = false;
        timer.async_wait([&](auto) { rang = true; });
        while (!rang) server.loop.run_one();
      }
      CHECK(server.changes > 0);
    }
  }

  TEST_CASE("what announcements come on is opened anew however it ended, and is looked behind") {
    for (const std::string mode : {"initialize", "stateless"}) {
      CAPTURE(mode);
      HttpFixture web({mode});
      ConnectedOverHttp server(web.config("/ends-listening"), true);
      REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
      const auto changes = [&](int wanted) {
        server.loop.restart();
        while (server.changes < wanted && server.loop.run_one() > 0) continue;
        return server.changes;
      };
      // Each time that it stood again something may have changed; the first time nothing did.
      const int before = mode == "initialize" ? 5 : 1;
      CHECK(changes(before) == before);
      CHECK(text_of(server.call("change")) == "changed");
      CHECK(changes(before + 1) == before + 1);
      CHECK((*server).is_alive());
    }
  }

  TEST_CASE("where a server has forgotten an event, its announcements are heard from now on") {
    for (const int status : {400, 410}) {
      CAPTURE(status);
      HttpFixture web({"initialize"});
      ConnectedOverHttp server(web.config(fmt::format("/forgets-events?{}", status)), true);
      REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
      const auto until_changed = [&](int times) {
        server.loop.restart();
        while (server.changes < times && server.loop.run_one() > 0) continue;
      };
      until_changed(1);  // what was missed is looked for
      CHECK(text_of(server.call("change")) == "changed");
      until_changed(2);
      CHECK(events_asked_for(web.log()) == Json{nullptr, "forgotten", nullptr});
    }
  }

  TEST_CASE("a session that was lost is not listened to again") {
    HttpFixture web({"initialize"});
    ConnectedOverHttp server(web.config("/forgets-events?404"), true);
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    server.loop.restart();
    while ((*server).is_alive() && server.changes == 0 && server.loop.run_one() > 0) continue;
    REQUIRE_FALSE((*server).is_alive());
    server.loop.run();  // nothing is left to wait for
    CHECK(events_asked_for(web.log()) == Json{nullptr, "forgotten"});
    CHECK(server.changes == 0);
    CHECK(id_of(server.call("echo")) == ErrorId::kServerHttp);
  }
}
