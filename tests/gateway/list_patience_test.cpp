// How long clients wait for what a server has, where the server does not say it.
#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "gate/support_gate.h"
#include "gateway/lists/server_lists.h"
#include "gateway/support_offers.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

using Outcome = gate::Servers::Outcome;

// One server, whose answers come when the test says so.
struct PatientWorld {
  explicit PatientWorld(const ListPatience::Spans& spans = {})
      : lists(
            servers, loop.get_executor(), clock,
            [this](const std::string& text) { warnings.push_back(text); }, spans) {
    clock.stop();
    lists.on_late([this](const std::string& server, ListKind) { late.push_back(server); });
    has("x://a");
  }
  void has(const std::string& uri) {
    servers.add("fs", Json::array({{{"uri", uri}, {"name", "n"}}}));
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
  // The same, and the server answers at once what it is asked then.
  std::size_t ask_and_deliver() {
    ask();
    servers.deliver();
    CHECK(is_told);
    return asked();
  }
  // What there is by now of timers.
  void let_time_pass() {
    loop.restart();
    loop.run_for(std::chrono::milliseconds(20));
  }
  void announce() { lists.forget("fs", ListKind::kResources); }
  [[nodiscard]] std::size_t asked() const { return servers.count("resources/list"); }
  [[nodiscard]] std::string shown() const {
    return list ? string_member(*list->begin(), "uri") : "nothing";
  }

  boost::asio::io_context loop;
  gate::testing::WorldClock clock;
  FakeServers servers;
  std::vector<std::string> warnings;
  std::vector<std::string> late;  // whose lists
  ServerLists lists;
  bool is_told = false;
  ServerList list;
};

constexpr ListPatience::Spans kShort{.first = std::chrono::milliseconds(1),
                                     .later = std::chrono::milliseconds(1),
                                     .rest = std::chrono::milliseconds(0)};
constexpr std::chrono::seconds kRest(5);

}  // namespace

TEST_SUITE("gateway/lists/list_patience") {
  TEST_CASE("a silent server is waited for once, and what it says later is there for the next") {
    PatientWorld world(kShort);
    world.ask();
    CHECK_FALSE(world.is_told);
    world.let_time_pass();
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

  TEST_CASE("a server that fails is left alone where its list is known, longer each time") {
    PatientWorld world;
    CHECK(world.ask_and_deliver() == 1);
    world.answer("it broke");
    world.clock.pass(std::chrono::minutes(2));
    CHECK(world.ask_and_deliver() == 2);
    CHECK(world.shown() == "x://a");
    world.clock.pass(std::chrono::seconds(29));
    CHECK(world.ask_and_deliver() == 2);
    world.clock.pass(std::chrono::seconds(1));
    CHECK(world.ask_and_deliver() == 3);
    world.clock.pass(std::chrono::seconds(59));
    CHECK(world.ask_and_deliver() == 3);
    world.clock.pass(std::chrono::seconds(1));
    CHECK(world.ask_and_deliver() == 4);
    CHECK(world.shown() == "x://a");
    CHECK(world.warnings.size() == 1);
    // Started again it may be another.
    world.has("x://b");
    world.clock.pass(kRest);
    world.lists.began_anew("fs");
    CHECK(world.ask_and_deliver() == 5);
    CHECK(world.shown() == "x://b");
    CHECK(world.late.size() == 1);
    world.clock.pass(std::chrono::minutes(5));
    world.answer("again");
    CHECK(world.ask_and_deliver() == 6);
    CHECK(world.warnings.size() == 2);
    CHECK(world.shown() == "x://b");
  }

  TEST_CASE("a list that nobody knows is asked for again soon, though nobody waits for it") {
    PatientWorld world;
    world.answer("it broke");
    CHECK(world.ask_and_deliver() == 1);
    world.clock.pass(kRest - std::chrono::seconds(1));
    CHECK(world.ask_and_deliver() == 1);
    world.has("x://a");
    world.clock.pass(std::chrono::seconds(1));
    world.ask();
    CHECK(world.is_told);
    CHECK(world.shown() == "nothing");
    CHECK(world.asked() == 2);
    CHECK(world.late.empty());
    world.servers.deliver();
    CHECK(world.late == std::vector<std::string>{"fs"});
    CHECK(world.ask_and_deliver() == 2);
    CHECK(world.shown() == "x://a");
  }

  TEST_CASE("a list that nobody got is asked for by itself after the pause, and clients are told") {
    PatientWorld world(
        {.pause = std::chrono::milliseconds(1), .rest = std::chrono::milliseconds(0)});
    world.answer("it broke");
    CHECK(world.ask_and_deliver() == 1);
    world.has("x://a");
    world.let_time_pass();
    CHECK(world.asked() == 2);
    world.servers.deliver();
    CHECK(world.late.size() == 1);
  }

  TEST_CASE("a server that answers with an error gives no list: it is said, and asked again") {
    PatientWorld world(
        {.pause = std::chrono::milliseconds(1), .rest = std::chrono::milliseconds(0)});
    world.servers.servers["fs"].answers["resources/list"] = [](const Json&) -> Result<Outcome> {
      return Outcome(std::unexpected(ipc::ErrorObject{-32603, "not today", nullptr}));
    };
    CHECK(world.ask_and_deliver() == 1);
    CHECK_FALSE(world.list);
    REQUIRE(world.warnings.size() == 1);
    CHECK(world.warnings[0].find("(-32603): not today") != std::string::npos);
    CHECK(world.warnings[0].find("may be of it and of another server") != std::string::npos);
    world.has("x://a");
    world.let_time_pass();
    CHECK(world.asked() == 2);
    world.servers.deliver();
    CHECK(world.late.size() == 1);
    // One that does not know the method has none.
    PatientWorld other;
    other.servers.servers["fs"].answers.erase("resources/list");
    CHECK(other.ask_and_deliver() == 1);
    CHECK(other.list);
    CHECK(other.warnings.empty());
  }

  TEST_CASE("clients that had to go without a list are told when it comes, those that had it not") {
    PatientWorld world(kShort);
    CHECK(world.ask_and_deliver() == 1);
    CHECK(world.late.empty());
    world.has("x://b");
    world.announce();
    world.ask();
    CHECK_FALSE(world.is_told);
    world.let_time_pass();
    CHECK(world.shown() == "x://a");
    world.servers.deliver();
    CHECK(world.late.size() == 1);
    // Late as well, but there is nothing that was not shown.
    world.clock.pass(std::chrono::minutes(2));
    world.ask();
    world.let_time_pass();
    world.servers.deliver();
    CHECK(world.asked() == 3);
    CHECK(world.late.size() == 1);
  }

  TEST_CASE("a change that a silent server announces makes nobody wait for it again") {
    PatientWorld world(kShort);
    world.ask();
    world.let_time_pass();
    world.announce();
    world.ask();
    CHECK(world.is_told);
    CHECK(world.asked() == 1);
  }

  TEST_CASE(
      "a change that is announced in a pause ends it, for the list though for nobody's time") {
    PatientWorld world;
    CHECK(world.ask_and_deliver() == 1);
    world.clock.pass(std::chrono::minutes(2));
    world.answer("it broke");
    CHECK(world.ask_and_deliver() == 2);
    world.has("x://b");
    world.clock.pass(kRest);
    world.announce();
    CHECK(world.asked() == 3);
    world.ask();
    CHECK(world.is_told);
    CHECK(world.shown() == "x://a");
    world.servers.deliver();
    CHECK(world.late.size() == 1);
    CHECK(world.ask_and_deliver() == 3);
    CHECK(world.shown() == "x://b");
  }

  TEST_CASE("a server that announces without end is asked with rests between, and nobody waits") {
    PatientWorld world;
    CHECK(world.ask_and_deliver() == 1);
    world.clock.pass(std::chrono::minutes(2));
    world.answer("it broke");
    CHECK(world.ask_and_deliver() == 2);
    for (int second = 0; second < 60; ++second) {
      world.clock.pass(std::chrono::seconds(1));
      world.announce();
      world.servers.deliver();
    }
    CHECK(world.asked() == 14);
    world.ask();
    CHECK(world.is_told);
  }

  TEST_CASE("a server that takes its time has nobody wait for more than a tenth of it") {
    PatientWorld world;
    CHECK(world.ask_and_deliver() == 1);
    world.announce();
    world.ask();
    CHECK_FALSE(world.is_told);
    world.clock.pass(std::chrono::seconds(4));
    world.has("x://b");
    world.servers.deliver();
    CHECK(world.asked() == 2);
    // What it announces now is read all the same.
    world.clock.pass(kRest);
    world.announce();
    world.ask();
    CHECK(world.is_told);
    CHECK(world.asked() == 3);
    world.servers.deliver();
    world.clock.pass(std::chrono::seconds(36));
    world.announce();
    world.ask();
    CHECK_FALSE(world.is_told);
  }

  TEST_CASE("a list that may have changed unheard is read, and told of where it did") {
    PatientWorld world;
    CHECK(world.ask_and_deliver() == 1);
    world.clock.pass(kRest);
    world.lists.doubt("fs");
    CHECK(world.asked() == 2);
    world.servers.deliver();
    CHECK(world.late.empty());
    world.has("x://b");
    world.clock.pass(kRest);
    world.lists.doubt("fs");
    world.servers.deliver();
    CHECK(world.asked() == 3);
    CHECK(world.late.size() == 1);
    CHECK(world.ask_and_deliver() == 3);
    CHECK(world.shown() == "x://b");
  }

  TEST_CASE("a long list that changes without end is read with rests, also where somebody asks") {
    PatientWorld world;
    Json entries = Json::array();
    for (int i = 0; i < 10; ++i)
      entries.push_back({{"uri", "x://" + std::to_string(i)},
                         {"name", "n"},
                         {"description", std::string(std::size_t{1} << 20U, 'x')}});
    world.servers.add("fs", entries);
    CHECK(world.ask_and_deliver() == 1);
    for (int i = 0; i < 240; ++i) {
      world.clock.pass(std::chrono::milliseconds(250));
      world.announce();
      world.ask();
      world.servers.deliver();
      CHECK(world.is_told);
    }
    CHECK(world.asked() == 21);  // every three seconds
  }

  TEST_CASE(
      "what clients' views of a list cost is followed by a rest, in which they have the old") {
    PatientWorld world;
    CHECK(world.ask_and_deliver() == 1);
    world.lists.worked("fs", ListKind::kResources, std::chrono::seconds(2));
    world.has("x://b");
    world.clock.pass(std::chrono::seconds(17));
    world.announce();
    CHECK(world.ask_and_deliver() == 1);
    CHECK(world.shown() == "x://a");
    world.clock.pass(std::chrono::milliseconds(1'001));
    CHECK(world.ask_and_deliver() == 2);
    CHECK(world.shown() == "x://b");
    // The next one's cost is its own.
    world.announce();
    CHECK(world.ask_and_deliver() == 3);
  }

  TEST_CASE("who asks in a short rest waits for its end") {
    PatientWorld world;
    CHECK(world.ask_and_deliver() == 1);
    world.lists.worked("fs", ListKind::kResources, std::chrono::milliseconds(5));
    world.has("x://b");
    world.announce();
    world.ask();
    world.servers.deliver();
    CHECK_FALSE(world.is_told);
    CHECK(world.asked() == 1);
    world.loop.restart();
    world.loop.run_for(std::chrono::milliseconds(200));
    CHECK(world.asked() == 2);
    world.servers.deliver();
    CHECK(world.is_told);
    CHECK(world.shown() == "x://b");
    // One that is down by then has what it had.
    world.lists.worked("fs", ListKind::kResources, std::chrono::milliseconds(5));
    world.announce();
    world.ask();
    world.servers.servers["fs"].capabilities = nullptr;
    world.loop.restart();
    world.loop.run_for(std::chrono::milliseconds(200));
    CHECK(world.is_told);
    CHECK(world.shown() == "x://b");
    CHECK(world.asked() == 2);
  }

  TEST_CASE("who was late once is waited for shortly, until it answers in time") {
    using Has = ListPatience::Has;
    ListPatience patience{ListPatience::Spans{}};
    const ListPatience::Time now{std::chrono::hours(1)};
    CHECK(patience.span(Has::kNothing) == std::chrono::seconds(30));
    CHECK(patience.span(Has::kList) == std::chrono::seconds(5));
    CHECK(patience.lose());
    CHECK_FALSE(patience.lose());
    patience.failed(now);
    CHECK_FALSE(patience.may_wait(now));
    CHECK(patience.next_with_reason() == now + kRest);
    CHECK(patience.next_without() == now + std::chrono::seconds(30));
    patience.began_anew();
    CHECK(patience.may_wait(now));
    CHECK(patience.span(Has::kNothing) == std::chrono::seconds(5));
    for (int i = 0; i < 20; ++i) patience.failed(now);
    CHECK(patience.may_wait(now + std::chrono::minutes(10)));
    patience.answered_in_time(now, std::chrono::milliseconds(900));
    CHECK(patience.may_wait(now));
    CHECK(patience.span(Has::kNothing) == std::chrono::seconds(30));
    CHECK(patience.lose());
  }

  TEST_CASE("all pages of a list have the time that one request to the server has") {
    for (const int timeout : {1, 5}) {
      CAPTURE(timeout);
      PatientWorld world({.first = std::chrono::milliseconds(2)});
      world.servers.servers["fs"].timeout = std::chrono::milliseconds(timeout);
      world.ask();
      world.let_time_pass();
      CHECK(world.is_told);
      CHECK_FALSE(world.list);
      CHECK(world.warnings.size() == 1);
      // What comes after that is for nobody: the next page would have been asked for.
      world.servers.deliver();
      world.ask();
      CHECK(world.shown() == "nothing");
      world.clock.pass(std::chrono::seconds(31));
      CHECK(world.ask_and_deliver() == 2);
      CHECK(world.shown() == "x://a");
    }
  }

  TEST_CASE(
      "a cursor that is longer than 8,192 bytes ends the reading of a list, and that is said") {
    for (const std::size_t length : {8'192U, 8'193U}) {
      CAPTURE(length);
      PatientWorld world;
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
