// Which resources a client watches at servers.
#include <doctest/doctest.h>

#include <string>

#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

// A rule that reads URIs as URLs: then they are decided, and sent, in one spelling.
const Talk::Options kByHost{.grants = {R"(fs."resources/read"(uri host "docs.example.com"))"},
                            .offers = true};
constexpr const char* kWritten = "HTTPS://Docs.Example.com:443/a";
constexpr const char* kDecided = "https://docs.example.com/a";

void one_server(FakeServers& servers) {
  servers.add("fs", Json::array());
}

std::vector<Json> updated(Talk& talk, const char* uri) {
  talk.servers.say("fs", "notifications/resources/updated", {{"uri", uri}});
  return talk.heard();
}

}  // namespace

TEST_SUITE("gateway/subscriptions") {
  TEST_CASE("what is read and what is subscribed to is sent in the spelling that was decided") {
    Talk talk(kByHost);
    talk.with_servers(one_server);
    talk.initialize();
    CHECK(talk.send(request(1, "resources/read", {{"uri", kWritten}})).empty());
    CHECK(talk.world.upstream.calls.at(0).arguments.at("uri") == kDecided);
    CHECK(talk.ask(2, "resources/subscribe", {{"uri", kWritten}}).contains("result"));
    CHECK(talk.servers.asked.back().method == "resources/subscribe");
    CHECK(talk.servers.asked.back().params.at("uri") == kDecided);
    CHECK(updated(talk, kDecided).size() == 1);
    CHECK(talk.ask(3, "resources/unsubscribe", {{"uri", kWritten}}).contains("result"));
    CHECK(talk.servers.asked.back().method == "resources/unsubscribe");
    CHECK(talk.servers.asked.back().params.at("uri") == kDecided);
    CHECK(updated(talk, kDecided).empty());
  }

  TEST_CASE("a resource that is watched under two spellings is watched until both are given up") {
    Talk talk(kByHost);
    talk.with_servers(one_server);
    talk.initialize();
    CHECK(talk.ask(1, "resources/subscribe", {{"uri", kWritten}}).contains("result"));
    CHECK(talk.ask(2, "resources/subscribe", {{"uri", kDecided}}).contains("result"));
    CHECK(talk.servers.count("resources/subscribe") == 1);
    CHECK(talk.ask(3, "resources/unsubscribe", {{"uri", kWritten}}).contains("result"));
    CHECK(talk.servers.count("resources/unsubscribe") == 0);
    CHECK(updated(talk, kDecided).size() == 1);
    CHECK(talk.ask(4, "resources/unsubscribe", {{"uri", kDecided}}).contains("result"));
    CHECK(talk.servers.count("resources/unsubscribe") == 1);
  }

  TEST_CASE("an open subscription of 2026-07-28 is told which spelling it will hear of") {
    Talk talk(kByHost);
    talk.with_servers(one_server);
    talk.servers.servers["fs"].is_stateless = true;
    const Json wanted{{"resourceSubscriptions", {kWritten}}};
    const auto said =
        talk.send(request("l", "subscriptions/listen", stateless({{"notifications", wanted}})));
    REQUIRE(said.size() == 1);
    CHECK(said[0].at("params").at("notifications").at("resourceSubscriptions") ==
          Json::array({kDecided}));
    talk.loop.poll();
    REQUIRE(talk.servers.listening.size() == 1);
    CHECK(talk.servers.listening.begin()
              ->second.params.at("notifications")
              .at("resourceSubscriptions") == Json::array({kDecided}));
    CHECK(updated(talk, kDecided).size() == 1);
  }

  TEST_CASE("a URI that reading refuses is not subscribed to either") {
    Talk talk({.grants = {R"(fs."resources/read"(uri starts "file:///data/"))"}, .offers = true});
    talk.with_servers(one_server);
    talk.initialize();
    for (const char* uri : {"file:///data/../etc/shadow", "file:///data/%2e%2e/x", "no uri"}) {
      CAPTURE(uri);
      CHECK(talk.ask(uri, "resources/read", {{"uri", uri}}).contains("error"));
      CHECK(talk.ask(uri, "resources/subscribe", {{"uri", uri}}).contains("error"));
    }
    CHECK(talk.servers.count("resources/subscribe") == 0);
  }
}
