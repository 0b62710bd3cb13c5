// What a client hears of changes, and how servers are asked to tell.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "gateway/support_lists.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

TEST_SUITE("gateway/changes") {
  TEST_CASE("changes are told to whoever subscribed, and may read what changed") {
    Talk talk({.grants = {R"(fs."resources/read"(uri starts "file:///data/"))"},
               .asks = {R"(fs."resources/read"(uri == "file:///data/b"))"},
               .offers = true});
    talk.with_servers(two_servers);
    talk.initialize();
    CHECK(talk.ask(1, "resources/subscribe", {{"uri", "file:///data/a"}}).contains("result"));
    CHECK(talk.servers.asked.back().method == "resources/subscribe");
    const auto updated = [&](const char* server, const char* uri) {
      talk.servers.say(server, "notifications/resources/updated",
                       {{"uri", uri}, {"_meta", {{"other", "client"}}}});
      return talk.heard();
    };
    const auto told = updated("fs", "file:///data/a");
    REQUIRE(told.size() == 1);
    CHECK(told[0].at("params") == Json{{"uri", "file:///data/a"}});
    CHECK(updated("fs", "file:///data/a/part").size() == 1);
    CHECK(updated("fs", "file:///data/ab").empty());
    CHECK(updated("fs", "file:///etc/x").empty());
    CHECK(updated("git", "file:///data/a").empty());
    // What a rule asks about, or denies, is not told unasked.
    CHECK(talk.ask(2, "resources/subscribe", {{"uri", "file:///data/b"}}).contains("error"));
    CHECK(talk.ask(3, "resources/subscribe", {{"uri", "file:///etc/x"}}).contains("error"));
    CHECK(talk.ask(4, "resources/unsubscribe", {{"uri", "file:///data/a"}}).contains("result"));
    CHECK(talk.servers.asked.back().method == "resources/unsubscribe");
    CHECK(updated("fs", "file:///data/a").empty());
    // Taken back, it is not told any more.
    CHECK(talk.ask(5, "resources/subscribe", {{"uri", "file:///data/a"}}).contains("result"));
    talk.world.gate->revoke(gate::testing::permission("fs.resources/read"));
    CHECK(updated("fs", "file:///data/a").empty());
  }

  TEST_CASE(
      "a subscription of 2026-07-28 hears what it asked for, and a modern server is asked so") {
    Talk talk({.grants = {"fs.*"}, .offers = true});
    talk.with_servers(two_servers);
    talk.servers.servers["fs"].is_stateless = true;
    const Json wanted{{"resourceSubscriptions", {"file:///data/a", "git://log", 7}},
                      {"promptsListChanged", true}};
    const auto said =
        talk.send(request("l", "subscriptions/listen", stateless({{"notifications", wanted}})));
    REQUIRE(said.size() == 1);
    CHECK(said[0].at("method") == "notifications/subscriptions/acknowledged");
    // git is not granted: whose its log is this client does not learn, and fs may have any URI.
    CHECK(said[0].at("params").at("notifications").at("promptsListChanged") == true);
    CHECK(talk.servers.listening.empty());  // all that is named at once is asked for once
    talk.loop.poll();
    REQUIRE(talk.servers.listening.size() == 1);
    const auto& filter = talk.servers.listening.begin()->second.params.at("notifications");
    CHECK(filter.at("resourceSubscriptions").size() ==
          said[0].at("params").at("notifications").at("resourceSubscriptions").size());
    talk.servers.say("fs", "notifications/resources/updated", {{"uri", "file:///data/a"}});
    talk.servers.say("fs", "notifications/resources/list_changed", nullptr);
    talk.servers.say("fs", "notifications/prompts/list_changed", nullptr);
    const auto told = talk.heard();
    REQUIRE(told.size() == 2);
    for (const Json& one : told)
      CHECK(one.at("params").at("_meta").at("io.modelcontextprotocol/subscriptionId") == "l");
    CHECK(told[0].at("method") == "notifications/resources/updated");
    CHECK(told[1].at("method") == "notifications/prompts/list_changed");
  }

  TEST_CASE("a server that was started again is asked for the same once more") {
    Talk talk({.grants = {"fs.*"}, .offers = true});
    talk.with_servers(two_servers);
    talk.servers.servers["fs"].capabilities["logging"] = Json::object();
    talk.initialize();
    CHECK(talk.ask(1, "logging/setLevel", {{"level", "info"}}).contains("result"));
    CHECK(talk.ask(2, "resources/subscribe", {{"uri", "file:///data/a"}}).contains("result"));
    CHECK(uris(talk, 3).size() == 3);
    ++talk.servers.servers["fs"].starts;
    talk.servers.settled();
    CHECK(talk.servers.count("logging/setLevel") == 2);
    CHECK(talk.servers.count("resources/subscribe") == 2);
    CHECK(uris(talk, 4).size() == 3);
    CHECK(talk.servers.count("resources/list") == 2);
  }
}
