// What is held of a client while it waits for servers, and what of their lists is kept for it.
#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "gateway/lists/shown_lists.h"
#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

constexpr std::size_t kRoom = 100'000;

Json listed(std::string_view key, std::string_view text) {
  return {{key, text}, {"name", text}};
}

// Both may have any URI, so that lists are asked for whose it is.
Talk two_that_may() {
  return Talk({.grants = {"fs.*", "git.*"}, .offers = true}, NameForm::kDotted, {}, kRoom);
}
void two_slow_servers(FakeServers& servers) {
  servers.add("fs", Json::array({listed("uri", "x://a")}), Json::array(),
              Json::array({{{"name", "review"}}}));
  servers.add("git", Json::array());
}

// Handed in, and no server answers yet.
void hand_in(Talk& talk, int id, const char* method, Json params) {
  talk.session->receive(request(id, method, std::move(params)).dump());
}

// A client of 2026-07-28 that was asked something, and comes back later.
struct Away {
  Away() : talk({.grants = {"git.commit"}}, NameForm::kDotted, {}, kRoom) {}
  static Json params(Json more) {
    Json all = stateless({{"name", "git.commit"}, {"arguments", {{"message", "m"}}}});
    all["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {
        {"elicitation", {{"form", Json::object()}}}};
    all.update(more);
    return all;
  }
  // What to come back with.
  std::string ask(int id) {
    CHECK(talk.send(request(id, "tools/call", params(Json::object()))).empty());
    talk.world.upstream.calls.back().caller->ask("elicitation/create", {{"message", "sure?"}},
                                                 [](const auto&) {});
    return talk.heard().at(0).at("result").at("requestState");
  }
  void answer(Result<Json> result) {
    talk.world.upstream.answer(talk.world.upstream.calls.size() - 1, std::move(result));
    CHECK(talk.heard().empty());
  }
  Json come_back(int id, const std::string& state) {
    const Json brought{{"requestState", state},
                       {"inputResponses", {{"question", {{"action", "accept"}}}}}};
    return talk.send(request(id, "tools/call", params(brought))).at(0);
  }
  Talk talk;
};

ServerList list_of(std::vector<Json> entries, ListKind kind = ListKind::kResources) {
  return std::make_shared<const KnownList>(kind, std::move(entries));
}

}  // namespace

TEST_SUITE("gateway/waiting") {
  TEST_CASE("a request that waits for a list holds what it asks for, and not all of its body") {
    Talk talk = two_that_may();
    talk.with_servers(two_slow_servers);
    talk.initialize();
    const std::string much(10 * kRoom, 'x');
    hand_in(talk, 1, "resources/read", {{"uri", "x://a"}, {"more", much}});
    hand_in(talk, 2, "prompts/get", {{"name", "fs.review"}, {"more", much}});
    CHECK(talk.heard().empty());
    CHECK(talk.room->held() > 0);
    CHECK(talk.room->held() < 1'000);
    talk.servers.deliver();
    CHECK(talk.world.upstream.calls.size() == 2);
    CHECK(talk.room->held() == 0);
  }

  TEST_CASE("what waits for lists has a bound, over all that a client sent") {
    Talk talk = two_that_may();
    talk.with_servers(two_slow_servers);
    talk.initialize();
    const Json brought{{"question", {{"text", std::string(kRoom * 6 / 10, 'x')}}}};
    const auto read = [&](int id) {
      hand_in(talk, id, "resources/read", {{"uri", "x://a"}, {"inputResponses", brought}});
    };
    read(1);
    CHECK(talk.heard().empty());
    read(2);
    const auto refused = talk.heard();
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].at("id") == 2);
    CHECK(refused[0].at("error").at("code") == -32600);
    // What the client takes back is held until the list is there: so it counts until then.
    talk.session->receive(Json{
        {"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 1}}}}
                              .dump());
    read(3);
    CHECK(talk.heard().size() == 1);
    talk.servers.deliver();
    CHECK(talk.room->held() == 0);
    read(4);
    talk.servers.deliver();
    CHECK(talk.world.upstream.calls.size() == 1);
  }

  TEST_CASE("what a client watches has a bound, and room is free again when it goes") {
    Talk talk = two_that_may();
    talk.with_servers(two_slow_servers);
    talk.initialize();
    const auto uri = [](char which) { return "x://" + std::string(8'000, which); };
    talk.servers.servers["fs"].answers["resources/list"] = [&](const Json&) {
      Json all = Json::array();
      for (const char which : std::string("abcdefgh")) all.push_back(listed("uri", uri(which)));
      return gate::Servers::Outcome(Json{{"resources", all}});
    };
    const auto subscribe = [&](int id, char which) {
      return talk.ask(id, "resources/subscribe", {{"uri", uri(which)}}).contains("result");
    };
    int watched = 0;
    for (const char which : std::string("abcdefgh")) watched += subscribe(which, which) ? 1 : 0;
    CHECK(watched == 6);
    CHECK(talk.ask(1, "resources/unsubscribe", {{"uri", uri('a')}}).contains("result"));
    CHECK(subscribe(2, 'h'));
    const Json wanted{{"resourceSubscriptions", {uri('a')}}};
    CHECK(talk.ask_stateless(3, "subscriptions/listen", {{"notifications", wanted}})
              .contains("error"));
    talk.session->close();
    CHECK(talk.room->held() == 0);
  }

  TEST_CASE(
      "a list is held against the rules once for all its pages, and anew when either changed") {
    Talk talk({.grants = {"fs.*"}, .offers = true});
    ShownLists shown(*talk.world.gate);
    ResourceLists lists;
    lists.resources["fs"] = list_of({listed("uri", "x://a"), listed("uri", "x://b")});
    lists.templates["fs"] = list_of({}, ListKind::kTemplates);
    const auto first = shown.resources({"fs"}, lists);
    CHECK(first->size() == 2);
    CHECK(shown.resources({"fs"}, lists) == first);
    shown.sweep();  // it was used since
    CHECK(shown.resources({"fs"}, lists) == first);
    lists.resources["fs"] = list_of({listed("uri", "x://c")});
    const auto second = shown.resources({"fs"}, lists);
    CHECK(second != first);
    CHECK(second->contains("x://c"));
    talk.world.gate->revoke(gate::testing::permission("fs.resources/read"));
    CHECK(shown.resources({"fs"}, lists)->empty());
    const std::weak_ptr<const ShownEntries> kept = shown.resources({"fs"}, lists);
    shown.sweep();
    shown.sweep();
    CHECK(kept.expired());
  }

  TEST_CASE("of a client's capabilities is kept which questions it answers, and nothing else") {
    const std::string much(1'000, 'x');
    const Json said{{"elicitation", {{"form", {{"more", much}}}, {"url", Json::object()}}},
                    {"sampling", {{"tools", much}}},
                    {"roots", true},
                    {"experimental", {{"more", much}}}};
    CHECK(what_it_answers(said) ==
          Json{{"elicitation", Json::object()}, {"sampling", Json::object()}});
    CHECK(what_it_answers({{"elicitation", {{"url", Json::object()}}}}) == Json::object());
    CHECK(what_it_answers("nothing") == Json::object());
  }

  TEST_CASE("what working out a view costs is told of the lists that were new, by their weight") {
    Talk talk = two_that_may();
    std::map<std::string, std::chrono::nanoseconds> told;
    ShownLists shown(*talk.world.gate,
                     [&](const std::string& server, ListKind kind, std::chrono::nanoseconds time) {
                       CHECK(kind == ListKind::kResources);
                       told[server] += time;
                     });
    std::vector<Json> many;
    for (int i = 0; i < 2'000; ++i) many.push_back(listed("uri", "x://" + std::to_string(i)));
    ResourceLists lists;
    lists.resources = {{"fs", list_of({listed("uri", "x://a")})}, {"git", list_of(many)}};
    const std::set<std::string> servers{"fs", "git"};
    std::ignore = shown.resources(servers, lists);
    CHECK(told.size() == 2);
    CHECK(told["git"] > 100 * told["fs"]);
    told.clear();
    std::ignore = shown.resources(servers, lists);
    CHECK(told.empty());
    lists.resources["fs"] = list_of({listed("uri", "x://b")});
    std::ignore = shown.resources(servers, lists);
    CHECK(told.size() == 1);
    CHECK(told.contains("fs"));
  }

  TEST_CASE("who was told that a server is not there yet waits for it no more, and takes nothing") {
    boost::asio::io_context loop;
    FakeServers servers;
    servers.add("fs", Json::array()).is_settled = false;
    const SystemClock clock;
    Offers offers(servers, loop.get_executor(), clock, nullptr, std::chrono::milliseconds(5));
    offers.use({"fs"});
    int told = 0;
    for (int i = 0; i < 1'000; ++i) offers.when_settled({"fs"}, [&] { ++told; });
    CHECK(offers.waiting() == 1'000);
    loop.run();
    CHECK(told == 1'000);
    CHECK(offers.waiting() == 0);
    offers.when_settled({"fs"}, [&] { ++told; });
    servers.servers["fs"].is_settled = true;
    servers.settled();
    CHECK(told == 1'001);
    CHECK(offers.waiting() == 0);
  }

  TEST_CASE("an answer that comes while its client is away takes room until it is fetched") {
    Away away;
    const std::string state = away.ask(1);
    away.answer(gate::testing::text_result(std::string(kRoom / 2, 'x')));
    CHECK(away.talk.room->held() > kRoom / 2);
    CHECK(away.come_back(2, state).contains("result"));
    CHECK(away.talk.room->held() == 0);
  }

  TEST_CASE(
      "an answer for which there is no room is an error that says so, a server's words as well") {
    Away away;
    const std::string state = away.ask(1);
    away.answer(gate::testing::text_result(std::string(2 * kRoom, 'x')));
    CHECK(away.talk.room->held() == 0);
    CHECK(away.come_back(2, state).dump().find("too long to be kept") != std::string::npos);
    const std::string other = away.ask(3);
    const ipc::ErrorObject long_error{-32021, "no", Json(std::string(2 * kRoom, 'x'))};
    away.talk.world.upstream.calls.back().caller->refused(long_error);
    away.answer(fail(ErrorId::kServerError, "no"));
    const Json said = away.come_back(4, other);
    CHECK(said.dump().find("too long to be kept") != std::string::npos);
    CHECK(said.dump().size() < 1'000);
  }

  TEST_CASE("an answer that nobody comes back for gives its room free") {
    Away away;
    away.talk.world.clock.stop();
    CHECK_FALSE(away.ask(1).empty());
    away.answer(gate::testing::text_result("some"));
    CHECK(away.talk.room->held() > 0);
    away.talk.world.clock.pass(std::chrono::minutes(11));
    away.talk.parked.sweep();
    CHECK(away.talk.room->held() == 0);
  }
}
