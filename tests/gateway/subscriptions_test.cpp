// Which resources a client watches at servers.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
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
  std::string subscribe(std::uint64_t who) {
    const auto before = said.size();
    watch.subscribe({"a client", who}, "fs", "x://a", nullptr, [this, who](const auto& answer) {
      said.push_back(std::to_string(who) + (answer && *answer ? " yes" : " no"));
    });
    return said.size() == before ? "nothing yet" : said.back();
  }
  void unsubscribe(std::uint64_t who) { watch.unsubscribe({"a client", who}, "fs", "x://a"); }
  [[nodiscard]] bool is_told() const { return watch.subscriptions().is_told("fs", "x://a"); }

  boost::asio::io_context loop;
  FakeServers servers;
  ServerWatch watch{servers, loop.get_executor()};
  std::vector<std::string> said;
};

// Two clients before one server of 2026-07-28, which takes no request over a mebibyte and tells
// only those that it acknowledged.
struct Sharing {
  explicit Sharing(const ServerWatch::Spans& spans = {.rest = std::chrono::milliseconds(0)})
      : watch(servers, loop.get_executor(), spans) {
    one_server(servers);
    servers.servers["fs"].is_stateless = true;
    servers.longest = std::size_t{1} << 20U;
  }
  // As a session does.
  bool watches(const std::string& client, const std::set<std::string>& uris) {
    if (!watch.subscriptions().has_room_for(client, "fs", uris)) return false;
    const auto number = watch.new_subscriber();
    for (const std::string& uri : uris)
      watch.subscribe({client, number}, "fs", uri, nullptr, [](const auto&) {});
    settle();
    return true;
  }
  void settle() {
    loop.restart();
    loop.poll();
    servers.deliver();
  }
  void acknowledge() {
    for (auto& [token, asked] : servers.listening) {
      if (!acknowledged.insert(token).second) continue;
      watch.acknowledged("fs", {{"_meta", {{"io.modelcontextprotocol/subscriptionId", token}}}});
      return settle();
    }
  }
  // Whether the server would tell of it.
  [[nodiscard]] bool is_heard(const std::string& uri) const {
    return std::ranges::any_of(servers.listening, [&](const auto& one) {
      const Json* uris =
          find_member(one.second.params.at("notifications"), "resourceSubscriptions");
      return acknowledged.contains(one.first) && uris != nullptr &&
             std::ranges::find(*uris, Json(uri)) != uris->end();
    });
  }

  boost::asio::io_context loop;
  FakeServers servers;
  ServerWatch watch;
  std::set<gate::Servers::RequestToken> acknowledged;
};

std::set<std::string> many_uris(std::size_t count, std::size_t length, char which) {
  std::set<std::string> uris;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "file:///" + std::string(1, which) + std::to_string(i);
    uris.insert(name + std::string(length - std::min(length, name.size()), 'x'));
  }
  return uris;
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
    ClientRegistry none;
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
    two.unsubscribe(1);
    two.unsubscribe(3);
    two.unsubscribe(3);
    CHECK(two.servers.count("resources/unsubscribe") == 0);
    two.unsubscribe(2);
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
    two.unsubscribe(1);
    CHECK(two.subscribe(3) == "nothing yet");
    two.servers.deliver();
    CHECK(two.servers.count("resources/subscribe") == 2);
    for (const auto who : {2, 3}) two.unsubscribe(who);
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
    one.unsubscribe(1);
    CHECK(one.subscribe(2) == "nothing yet");
    one.servers.deliver();
    CHECK(one.said == std::vector<std::string>{"1 yes", "2 yes"});
    CHECK(one.is_told());
  }

  TEST_CASE("one client's URIs cost no other what it hears of") {
    Sharing both;
    CHECK(both.watches("b", {"file:///notes/b"}));
    both.acknowledge();
    CHECK(both.is_heard("file:///notes/b"));
    // Four lists of what a session may name, of the longest URIs.
    for (const char which : std::string("wxyz"))
      CHECK_FALSE(both.watches("a", many_uris(1'024, 8'192, which)));
    // As much as it may.
    std::size_t taken = 0;
    for (std::size_t i = 0; i < 100; ++i)
      taken += both.watches("a", many_uris(1, 8'000 + i, 'v')) ? 1 : 0;
    CHECK(taken == 8);
    both.acknowledge();
    CHECK(both.is_heard("file:///notes/b"));
    CHECK(both.watches("b", {"file:///notes/c"}));
    both.acknowledge();  // all of the other's
    CHECK(both.is_heard("file:///notes/b"));
    both.acknowledge();
    CHECK(both.is_heard("file:///notes/b"));
    CHECK(both.is_heard("file:///notes/c"));
    for (const auto& one : both.servers.asked) CHECK(to_text(one.params).size() < 600'000);
  }

  TEST_CASE("what is watched at a server has a bound, a client has a share, and it comes back") {
    FakeServers servers;
    one_server(servers);
    Subscriptions all(servers,
                      {.client_uris = 3, .client_bytes = 50, .all_uris = 5, .all_bytes = 80});
    const auto add = [&](const std::string& client, std::uint64_t who, const std::string& uri) {
      if (!all.has_room_for(client, "fs", {uri})) return false;
      all.add({client, who}, "fs", uri);
      return true;
    };
    CHECK(add("a", 1, "x://1"));
    CHECK(add("a", 1, "x://2"));
    CHECK(add("a", 2, "x://2"));  // the same resource in another session takes nothing
    CHECK(add("a", 2, "x://3"));
    CHECK_FALSE(add("a", 1, "x://4"));
    CHECK(add("b", 3, "x://1"));
    CHECK_FALSE(add("b", 3, "x://" + std::string(50, 'x')));
    CHECK_FALSE(add("b", 3, "x://" + std::string(20, '\x01')));  // six bytes each, as it is written
    CHECK(add("b", 3, "x://5"));
    CHECK(add("c", 4, "x://6"));
    CHECK_FALSE(add("c", 4, "x://7"));  // all have five
    CHECK_FALSE(all.remove({"a", 1}, "fs", "x://1"));
    CHECK_FALSE(all.remove({"a", 1}, "fs", "x://2"));
    CHECK_FALSE(all.has_room_for("a", "fs", {"x://1", "x://2", "x://7"}));
    CHECK(all.has_room_for("a", "fs", {"x://1", "x://2"}));
    CHECK(all.remove({"b", 3}, "fs", "x://1"));
    CHECK(add("a", 1, "x://7"));
    // Another server's are its own.
    CHECK(all.has_room_for("a", "git", {"x://1", "x://2", "x://8"}));
  }

  TEST_CASE("the listening before stays until the next one is acknowledged") {
    Sharing both;
    CHECK(both.watches("b", {"file:///b"}));
    both.acknowledge();
    CHECK(both.watches("a", {"file:///a"}));
    CHECK(both.servers.listening.size() == 2);
    CHECK(both.is_heard("file:///b"));  // an update that the server sends now
    // What is wanted meanwhile is asked for with the next one: one is under way at a time.
    CHECK(both.watches("a", {"file:///c"}));
    CHECK(both.watches("a", {"file:///d"}));
    CHECK(both.servers.listening.size() == 2);
    both.acknowledge();
    CHECK(both.servers.listening.size() == 2);
    CHECK(both.is_heard("file:///b"));
    CHECK(both.is_heard("file:///a"));
    both.acknowledge();
    CHECK(both.servers.listening.size() == 1);
    for (const char* uri : {"file:///a", "file:///b", "file:///c", "file:///d"})
      CHECK(both.is_heard(uri));
    CHECK(both.servers.count("subscriptions/listen") == 3);
  }

  TEST_CASE("a server that refuses the next listening tells of the one before") {
    Sharing both;
    CHECK(both.watches("b", {"file:///b"}));
    both.acknowledge();
    both.servers.longest = 10;
    CHECK(both.watches("a", {"file:///a"}));
    CHECK(both.servers.listening.size() == 1);
    CHECK(both.is_heard("file:///b"));
    both.servers.longest = 1'000;
    CHECK(both.watches("a", {"file:///c"}));
    both.acknowledge();
    CHECK(both.is_heard("file:///a"));
    CHECK(both.is_heard("file:///b"));
    CHECK(both.servers.listening.size() == 1);
  }

  TEST_CASE("a listening that ended is begun again, and it is said that something may be lost") {
    Sharing both;
    std::size_t gaps = 0;
    both.watch.on_gap([&](const std::string& server) { gaps += server == "fs" ? 1 : 0; });
    CHECK(both.watches("b", {"file:///b"}));
    both.acknowledge();
    CHECK(both.watches("b", {"file:///c"}));
    both.acknowledge();
    CHECK(gaps == 0);
    const auto token = both.servers.listening.begin()->first;
    both.servers.listening.clear();
    both.servers.ends.at(token)();
    // What is wanted now is asked for at once, the rest with it.
    CHECK(both.watches("b", {"file:///d"}));
    CHECK(gaps == 0);
    both.acknowledge();
    CHECK(gaps == 1);
    for (const char* uri : {"file:///b", "file:///c", "file:///d"}) CHECK(both.is_heard(uri));
  }

  TEST_CASE("a server that does not say that it listens is taken to do so after a while") {
    Sharing both(
        {.acknowledges = std::chrono::milliseconds(5), .rest = std::chrono::milliseconds(0)});
    CHECK(both.watches("b", {"file:///b"}));
    CHECK(both.watches("a", {"file:///a"}));
    CHECK(both.servers.listening.size() == 1);
    both.loop.restart();
    both.loop.run_for(std::chrono::milliseconds(100));
    REQUIRE(both.servers.listening.size() == 1);
    CHECK(both.servers.listening.begin()
              ->second.params.at("notifications")
              .at("resourceSubscriptions")
              .size() == 2);
  }

  TEST_CASE("who changes its mind without pause makes mcpac ask with rests between") {
    Sharing both({.rest = std::chrono::hours(1)});
    for (int i = 0; i < 100; ++i) {
      const std::string uri = "file:///" + std::to_string(i);
      CHECK(both.watches("a", {uri}));
      both.acknowledge();
    }
    CHECK(both.servers.count("subscriptions/listen") == 1);
  }

  TEST_CASE("a client that watches too much is told so, in either era") {
    Talk talk({.grants = {"fs.*"}, .offers = true});
    talk.with_servers(one_server);
    talk.initialize();
    const auto subscribe = [&](int id) {
      return talk.ask(id, "resources/subscribe",
                      {{"uri", "x://" + std::to_string(id) + std::string(8'000, 'a')}});
    };
    for (int i = 0; i < 8; ++i) CHECK(subscribe(i).contains("result"));
    const Json refused = subscribe(8);
    CHECK(refused.at("error").at("code") == ipc::kInvalidRequest);
    CHECK(refused.at("error").at("message").get<std::string>().starts_with(
        "too many resources are watched"));
    const Json wanted{{"resourceSubscriptions", {"x://9" + std::string(8'000, 'a')}}};
    const auto said =
        talk.send(request("l", "subscriptions/listen", stateless({{"notifications", wanted}})));
    REQUIRE(said.size() == 1);
    CHECK(said[0].at("error").at("code") == ipc::kInvalidRequest);
    CHECK(talk.servers.count("resources/subscribe") == 8);
  }

  TEST_CASE("a server that was started again is asked for what it knew some at a time") {
    Watching many;
    for (const std::string& uri : many_uris(100, 20, 'x'))
      many.watch.subscribe({"a client", 1}, "fs", uri, nullptr, [](const auto&) {});
    many.servers.deliver();
    CHECK(many.servers.count("resources/subscribe") == 100);
    many.watch.settled("fs");
    CHECK(many.servers.count("resources/subscribe") == 116);
    // Again, before it answered: what was under way is for the one before.
    many.watch.settled("fs");
    CHECK(many.servers.count("resources/subscribe") <= 132);
    many.servers.deliver();
    CHECK(many.servers.count("resources/subscribe") <= 216);
    for (const std::string& uri : many_uris(100, 20, 'x'))
      CHECK(many.watch.subscriptions().is_told("fs", uri));
  }
}
