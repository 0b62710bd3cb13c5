// Which resources a client watches at servers.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "gateway/announcements.h"
#include "gateway/server_watch.h"
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

// Several who watch one resource at one server.
struct Watching {
  Watching() { one_server(servers); }
  void refuse() {
    servers.servers["fs"].answers["resources/subscribe"] = [](const Json&) {
      return gate::Servers::Outcome(std::unexpected(ipc::ErrorObject{-32000, "no", nullptr}));
    };
  }
  // What was said last; "nothing yet" where nothing came of it at once.
  std::string subscribe(ServerWatch::Subscriber who) {
    const auto before = said.size();
    watch.subscribe(who, "fs", "x://a", nullptr, [this, who](const auto& answer) {
      said.push_back(std::to_string(who) + (answer && *answer ? " yes" : " no"));
    });
    return said.size() == before ? "nothing yet" : said.back();
  }
  [[nodiscard]] bool is_told() const { return watch.subscriptions().is_told("fs", "x://a"); }

  boost::asio::io_context loop;
  FakeServers servers;
  ServerWatch watch{servers, loop.get_executor()};
  std::vector<std::string> said;
};

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

  TEST_CASE("a URI that is longer than 8,192 bytes is not watched") {
    Talk talk({.grants = {"fs.*"}, .offers = true});
    talk.with_servers(one_server);
    talk.initialize();
    const std::string most = "x://" + std::string(8'188, 'a');
    CHECK(talk.ask(1, "resources/subscribe", {{"uri", most}}).contains("result"));
    for (const char* method : {"resources/subscribe", "resources/unsubscribe"}) {
      const auto answer = talk.ask(2, method, {{"uri", most + "a"}});
      CHECK(answer.at("error").at("code") == ipc::kInvalidParams);
      CHECK(answer.at("error").at("message") == "params.uri is longer than 8,192 bytes");
    }
    const Json wanted{{"resourceSubscriptions", {most + "a", "x://b"}}};
    const auto said =
        talk.send(request("l", "subscriptions/listen", stateless({{"notifications", wanted}})));
    REQUIRE(said.size() == 1);
    CHECK(said[0].at("params").at("notifications").at("resourceSubscriptions") ==
          Json::array({"x://b"}));
  }

  TEST_CASE("an update of what nobody watches is dropped, and the rules are asked about the rest") {
    Talk talk({.grants = {"fs.*"}, .offers = true});
    talk.with_servers(one_server);
    talk.initialize();
    CHECK(talk.ask(1, "resources/subscribe", {{"uri", "x://a"}}).contains("result"));
    CHECK(updated(talk, "x://a/b").size() == 1);
    CHECK(updated(talk, "x://other").empty());
    std::ignore = talk.world.gate->revoke_all();
    CHECK(updated(talk, "x://a/b").empty());
  }

  TEST_CASE(
      "a URI of a server that is longer than 8,192 bytes is told to nobody, and that is said") {
    boost::asio::io_context loop;
    FakeServers servers;
    one_server(servers);
    const SystemClock clock;
    std::vector<std::string> warnings;
    Offers offers(servers, loop.get_executor(), clock);
    ClientRuns none;
    Announcements announcements(offers, none, clock, loop.get_executor(),
                                [&](const std::string& text) { warnings.push_back(text); });
    const auto tell = [&](std::size_t length) {
      announcements.heard("fs", "notifications/resources/updated",
                          {{"uri", "x://" + std::string(length - 4, 'a')}});
      return warnings.size();
    };
    CHECK(tell(8'192) == 0);
    CHECK(tell(8'193) == 1);
  }

  TEST_CASE(
      "clients that watch the same resource share one subscription, and the last one ends it") {
    Watching two;
    CHECK(two.subscribe(1) == "nothing yet");
    CHECK(two.subscribe(2) == "nothing yet");
    two.servers.deliver();
    CHECK(two.said == std::vector<std::string>{"1 yes", "2 yes"});
    CHECK(two.subscribe(3) == "3 yes");
    CHECK(two.servers.count("resources/subscribe") == 1);
    two.watch.unsubscribe(1, "fs", "x://a");
    two.watch.unsubscribe(3, "fs", "x://a");
    two.watch.unsubscribe(3, "fs", "x://a");
    CHECK(two.servers.count("resources/unsubscribe") == 0);
    two.watch.unsubscribe(2, "fs", "x://a");
    CHECK(two.servers.count("resources/unsubscribe") == 1);
  }

  TEST_CASE(
      "who joins a subscription that the server refuses hears so, and the next one asks again") {
    Watching two;
    two.refuse();
    two.subscribe(1);
    two.subscribe(2);
    two.servers.deliver();
    CHECK(two.said == std::vector<std::string>{"1 no", "2 no"});
    CHECK_FALSE(two.is_told());
    two.watch.unsubscribe(1, "fs", "x://a");
    CHECK(two.subscribe(3) == "nothing yet");
    two.servers.deliver();
    CHECK(two.servers.count("resources/subscribe") == 2);
    for (const auto who : {2, 3}) two.watch.unsubscribe(who, "fs", "x://a");
    // Nothing stood.
    CHECK(two.servers.count("resources/unsubscribe") == 0);
  }

  TEST_CASE("a server that was started again and refuses what it had was not told") {
    Watching one;
    one.subscribe(1);
    one.servers.deliver();
    CHECK(one.is_told());
    one.refuse();
    one.watch.settled("fs");
    CHECK_FALSE(one.is_told());
    one.servers.deliver();
    CHECK_FALSE(one.is_told());
    one.servers.add("fs", Json::array());
    CHECK(one.subscribe(2) == "nothing yet");
    one.servers.deliver();
    CHECK(one.is_told());
  }

  TEST_CASE("what was asked before a server was there is not asked twice when it comes") {
    Watching one;
    one.servers.servers["fs"].is_settled = false;
    one.subscribe(1);
    one.servers.servers["fs"].is_settled = true;
    one.watch.settled("fs");
    one.servers.deliver();
    CHECK(one.is_told());
    CHECK(one.servers.count("resources/subscribe") == 1);
    one.watch.settled("fs");
    CHECK(one.servers.count("resources/subscribe") == 2);
  }

  TEST_CASE("who gives up a resource before the server answered is answered all the same") {
    Watching one;
    one.subscribe(1);
    one.watch.unsubscribe(1, "fs", "x://a");
    CHECK(one.subscribe(2) == "nothing yet");
    one.servers.deliver();
    CHECK(one.said == std::vector<std::string>{"1 yes", "2 yes"});
    CHECK(one.is_told());
  }
}
