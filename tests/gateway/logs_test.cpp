// Which logs of servers reach a client.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "gateway/support_lists.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

TEST_SUITE("gateway/logs") {
  TEST_CASE("logs of a call reach the client that made it, from the level that it asked for") {
    Talk talk({.grants = {"fs.read"}, .offers = true});
    talk.with_servers(two_servers);
    talk.servers.servers["fs"].capabilities["logging"] = Json::object();
    CHECK(talk.initialize().at("result").at("capabilities").contains("logging"));
    CHECK(talk.ask(1, "logging/setLevel", {{"level", "loud"}}).at("error").at("code") == -32602);
    const auto call = [&](int id) {
      CHECK(talk.send(request(id, "tools/call",
                              {{"name", "fs.read"}, {"arguments", {{"path", "x"}}}}))
                .empty());
      return talk.world.upstream.calls.back().caller;
    };
    const Json info{{"level", "info"}, {"data", "hello"}, {"_meta", {{"x", 1}}}};
    const auto before = call(2);
    CHECK(before->log_level().empty());
    before->logged("fs", info);
    CHECK(talk.heard().empty());
    CHECK(talk.ask(3, "logging/setLevel", {{"level", "info"}}).contains("result"));
    CHECK(talk.servers.asked.back().params == Json{{"level", "info"}});
    const auto after = call(4);
    CHECK(after->log_level() == "info");
    after->logged("fs", info);
    after->logged("fs", {{"level", "debug"}, {"data", "hello"}});
    after->logged("fs", {{"level", "error"}, {"data", std::string(100'000, 'x')}});
    const auto told = talk.heard();
    REQUIRE(told.size() == 1);
    CHECK(told[0].at("method") == "notifications/message");
    CHECK(told[0].at("params") == Json{{"level", "info"}, {"logger", "fs"}, {"data", "hello"}});
    for (int i = 0; i < 3'000; ++i) after->logged("fs", info);
    CHECK(talk.heard().size() < 1'001);
    talk.world.upstream.answer(1, gate::testing::text_result("done"));
    talk.heard();
    after->logged("fs", info);
    CHECK(talk.heard().empty());
  }

  TEST_CASE("a client of 2026-07-28 says with each request which logs it wants") {
    Talk talk({.grants = {"fs.read"}, .offers = true});
    talk.with_servers(two_servers);
    const auto call = [&](int id, const Json& level) {
      Json params = stateless({{"name", "fs.read"}, {"arguments", {{"path", "x"}}}});
      if (!level.is_null()) params["_meta"]["io.modelcontextprotocol/logLevel"] = level;
      return talk.send(request(id, "tools/call", std::move(params)));
    };
    CHECK(call(1, nullptr).empty());
    talk.world.upstream.calls.back().caller->logged("fs", {{"level", "error"}, {"data", 1}});
    CHECK(talk.heard().empty());
    CHECK(call(2, "notice").empty());
    talk.world.upstream.calls.back().caller->logged("fs", {{"level", "error"}, {"data", 1}});
    CHECK(talk.heard().size() == 1);
    CHECK(call(3, "loud").at(0).at("error").at("code") == -32602);
  }
}
