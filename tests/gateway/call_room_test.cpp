// What the calls of one client hold while they are in work: sessions, disconnections and questions
// make it no more.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "gateway/support_http.h"
#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

constexpr std::size_t kKiB = 1'024;

// A client whose calls no server answers before the test does.
struct Busy {
  explicit Busy(CallLimits limits)
      : talk({.grants = {"git.commit", "fs.read", R"(fs."resources/read")"}, .offers = true},
             NameForm::kDotted, {}, WaitingRoom::kMost, {}, limits) {
    talk.initialize();
  }
  std::vector<Json> call(int id, const Json& message) {
    return talk.send(
        request(id, "tools/call", {{"name", "git.commit"}, {"arguments", {{"message", message}}}}));
  }
  std::vector<Json> call(int id, std::size_t bytes) { return call(id, std::string(bytes, 'x')); }
  void answer(std::size_t index) {
    talk.world.upstream.answer(index, gate::testing::text_result("done"));
    CHECK(talk.heard().size() == 1);
  }
  [[nodiscard]] std::size_t in_work() const { return talk.world.upstream.calls.size(); }
  Talk talk;
};

// The words of the refusal, which is a result that a model reads.
std::string refusal(const std::vector<Json>& said) {
  REQUIRE(said.size() == 1);
  const Json& result = said[0].at("result");
  CHECK(result.at("isError") == true);
  CHECK(result.at("_meta").at("mcpac/error").at("kind") == "budget");
  return result.at("content").at(0).at("text");
}

}  // namespace

TEST_SUITE("gateway/call_room") {
  TEST_CASE("what calls in work hold has a bound, and one more is told which and what to do") {
    Busy busy({.bytes = 100 * kKiB});
    CHECK(busy.call(1, 40 * kKiB).empty());
    CHECK(busy.call(2, 40 * kKiB).empty());
    const auto words = refusal(busy.call(3, 40 * kKiB));
    CHECK(words.contains("does not fit beside them: wait for answers, or cancel calls"));
    CHECK(busy.in_work() == 2);
    CHECK(busy.call(4, 10).empty());
    busy.answer(0);
    CHECK(busy.call(5, 40 * kKiB).empty());
    // What is taken back counts no more, either.
    const auto said = busy.talk.send({{"jsonrpc", "2.0"},
                                      {"method", "notifications/cancelled"},
                                      {"params", {{"requestId", 2}}}});
    CHECK(said.empty());
    CHECK(busy.call(6, 40 * kKiB).empty());
    busy.talk.session->close();
    CHECK(busy.talk.calls->held() == 0);
    CHECK(busy.talk.calls->calls() == 0);
  }

  TEST_CASE("one call alone may be as long as a message is") {
    Busy busy({.bytes = 100 * kKiB});
    CHECK(busy.call(1, 400 * kKiB).empty());
    CHECK(busy.talk.calls->held() > 400 * kKiB);
    CHECK_FALSE(refusal(busy.call(2, 10)).empty());
    busy.answer(0);
    CHECK(busy.call(3, 10).empty());
  }

  TEST_CASE("a short call finds room beside a long one that fills it") {
    Busy busy({.bytes = std::size_t{8} << 20U});
    CHECK(busy.call(1, std::size_t{12} << 20U).empty());
    CHECK(busy.call(2, 10).empty());
    CHECK_FALSE(refusal(busy.call(3, 40 * kKiB)).empty());
    CHECK(busy.in_work() == 2);
  }

  TEST_CASE("few letters that make many values count as what these take") {
    Busy busy({.bytes = 100 * kKiB});
    CHECK(busy.call(1, 10).empty());
    Json many = Json::array();
    for (std::size_t i = 0; i < kKiB; ++i) many.push_back({{"", 0}});
    CHECK(to_text(many).size() < 10 * kKiB);
    CHECK_FALSE(refusal(busy.call(2, many)).empty());
  }

  TEST_CASE("so many calls are in work at a time, whatever they hold") {
    Busy busy({.calls = 2});
    CHECK(busy.call(1, 10).empty());
    CHECK(busy.call(2, 10).empty());
    CHECK(refusal(busy.call(3, 10)).contains("has 2 calls in work, over all of its sessions"));
    busy.answer(1);
    CHECK(busy.call(4, 10).empty());
  }

  TEST_CASE("reading a resource is a call like any other, and its refusal an error") {
    Busy busy({.calls = 1});
    busy.talk.with_servers([](FakeServers& servers) { servers.add("fs", Json::array()); });
    CHECK(busy.call(1, 10).empty());
    const auto said = busy.talk.send(request(2, "resources/read", {{"uri", "x://a"}}));
    REQUIRE(said.size() == 1);
    CHECK(said[0].at("error").at("data").at("mcpac/error").at("kind") == "budget");
  }

  TEST_CASE("a call keeps its seat while its client is away with a question, until it is over") {
    Busy busy({.bytes = 100 * kKiB});
    busy.talk.world.clock.stop();
    const auto params = [](const Json& more) {
      Json all = stateless(
          {{"name", "git.commit"}, {"arguments", {{"message", std::string(60 * kKiB, 'x')}}}});
      all["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {
          {"elicitation", {{"form", Json::object()}}}};
      all.update(more);
      return all;
    };
    const auto ask = [&](int id) -> std::string {
      CHECK(busy.talk.send(request(id, "tools/call", params(Json::object()))).empty());
      busy.talk.world.upstream.calls.back().caller->ask("elicitation/create", {{"message", "?"}},
                                                        [](const auto&) {});
      return busy.talk.heard().at(0).at("result").at("requestState");
    };
    const std::string state = ask(1);
    CHECK(busy.talk.parked.count() == 1);
    CHECK_FALSE(refusal(busy.call(2, 50 * kKiB)).empty());
    // Alone it may come back with what it likes; beside another, what it brings counts.
    CHECK(busy.call(3, 10 * kKiB).empty());
    const auto come_back = [&](int id, std::size_t bytes) {
      return busy.talk.send(request(
          id, "tools/call",
          params({{"requestState", state},
                  {"inputResponses",
                   {{"question", {{"action", "accept"}, {"x", std::string(bytes, 'x')}}}}}})));
    };
    CHECK(refusal(come_back(4, 40 * kKiB)).contains("does not fit"));
    CHECK(busy.talk.parked.count() == 1);
    busy.talk.world.upstream.answer(1, gate::testing::text_result("done"));
    CHECK(busy.talk.heard().size() == 1);
    CHECK(come_back(5, 40 * kKiB).empty());
    CHECK(busy.talk.parked.count() == 0);
    CHECK(busy.talk.calls->held() > 160 * kKiB);
    busy.answer(0);
    CHECK(busy.talk.calls->held() == 0);
    // Whoever does not come back loses it.
    CHECK_FALSE(ask(6).empty());
    CHECK(busy.talk.calls->held() > 60 * kKiB);
    busy.talk.world.clock.pass(std::chrono::minutes(11));
    busy.talk.parked.sweep();
    CHECK(busy.talk.calls->held() == 0);
  }

  TEST_CASE("whoever calls, hangs up and calls again is refused before it fills the memory") {
    Hall hall;
    std::size_t in_work = 0;
    hall.upstream_does = [&](auto&) { ++in_work; };  // never answered
    const std::string session = begin_session(hall.port());
    const std::string much(std::size_t{8} << 20U, 'x');
    std::size_t refused = 0;
    for (int id = 1; id <= 40 && refused == 0; ++id) {
      RawClient client(hall.port());
      client.send(post_text(hall.port(), {.session = session,
                                          .body = request(id, "tools/call",
                                                          {{"name", "git.commit"},
                                                           {"arguments", {{"message", much}}}})
                                                      .dump()}));
      const auto taken = static_cast<std::size_t>(id);
      CHECK(becomes_true(hall, [&] { return in_work == taken || client.has_more(); }));
      if (!client.has_more()) continue;
      CHECK(client.read().body.contains("may hold 128 MiB of arguments"));
      ++refused;
    }
    CHECK(refused == 1);
    CHECK(in_work == 15);
    // Another session of it has no other room, and another client has its own.
    const auto small = [&](const std::string& token) {
      const std::string other = begin_session(hall.port(), token);
      RawClient client(hall.port());
      client.send(post_text(hall.port(), {.token = token,
                                          .session = other,
                                          .body = request(1, "tools/call",
                                                          {{"name", "git.commit"},
                                                           {"arguments", {{"message", much}}}})
                                                      .dump()}));
      return becomes_true(hall, [&] { return in_work == 16 || client.has_more(); }) &&
             !client.has_more();
    };
    CHECK_FALSE(small("token-a"));
    CHECK(small("token-b"));
  }
}
