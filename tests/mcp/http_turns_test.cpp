// Whose message is the next for a server over HTTP.
#include "mcp/http_turns.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>

using namespace mcpac;
using mcp::ConnectionLimits;
using mcp::ConnectionRoom;

namespace {

// One server's turns; messages are known by their lines.
struct Turns {
  explicit Turns(std::shared_ptr<ConnectionRoom> of_all) : turns(std::move(of_all)) {}
  // Whether it goes now.
  bool begin(const std::string& client, std::int64_t id) {
    return turns.take(message(client, id)).has_value();
  }
  static mcp::Outgoing message(const std::string& client, std::int64_t id) {
    return {.line = client + std::to_string(id),
            .request_id = id,
            .method = "tools/call",
            .client = of(client)};
  }
  void end(const std::string& client) { turns.end(of(client)); }
  // Those that may go now.
  std::string next() {
    std::string lines;
    while (const auto message = turns.next()) lines += message->line + ";";
    return lines;
  }
  static mcp::HttpTurns::Client of(const std::string& client) {
    return client.empty() ? nullptr : std::make_shared<const std::string>(client);
  }
  mcp::HttpTurns turns;
};

std::shared_ptr<ConnectionRoom> room(ConnectionLimits limits) {
  return std::make_shared<ConnectionRoom>(limits);
}

}  // namespace

TEST_SUITE("mcp/http_turns") {
  TEST_CASE("a client has as many as are left free beside it, and whoever comes next finds one") {
    Turns one(room({.of_server = 8, .of_all = 100}));
    const auto taken = [&](const std::string& client) {
      int count = 0;
      for (std::int64_t id = 1; id <= 20; ++id) count += one.begin(client, id) ? 1 : 0;
      return count;
    };
    CHECK(taken("a") == 4);
    CHECK(taken("b") == 2);
    CHECK(taken("c") == 1);
    CHECK(taken("d") == 1);
    CHECK(taken("e") == 0);
  }

  TEST_CASE("who is nobody in particular has no share, and no more than there are") {
    Turns one(room({.of_server = 3, .of_all = 100}));
    CHECK(one.begin("", 1));
    CHECK(one.begin("", 2));
    CHECK(one.begin("", 3));
    CHECK_FALSE(one.begin("", 4));
    one.end("");
    CHECK(one.next() == "4;");
  }

  TEST_CASE("what waits goes client by client, and of each in its order") {
    Turns one(room({.of_server = 2, .of_all = 100}));
    CHECK(one.begin("a", 1));
    CHECK(one.begin("b", 2));
    for (std::int64_t id = 3; id <= 5; ++id) CHECK_FALSE(one.begin("a", id));
    CHECK_FALSE(one.begin("b", 6));
    CHECK(one.next().empty());
    one.end("a");
    CHECK(one.next() == "a3;");
    one.end("a");
    CHECK(one.next() == "a4;");  // b has one that is in work
    one.end("b");
    CHECK(one.next() == "b6;");
    one.end("b");
    CHECK(one.next().empty());  // a has one, and one is free: that is somebody else's
    one.end("a");
    CHECK(one.next() == "a5;");
  }

  TEST_CASE("a notification goes before its client's calls, and who is taken out does not go") {
    Turns one(room({.of_server = 2, .of_all = 100}));
    CHECK(one.begin("a", 1));
    CHECK_FALSE(one.begin("a", 2));
    CHECK_FALSE(one.begin("a", 3));
    mcp::Outgoing told{
        .line = "told", .method = "notifications/cancelled", .client = Turns::of("a")};
    CHECK_FALSE(one.turns.take(std::move(told)).has_value());
    CHECK(one.turns.take_out(2));
    CHECK_FALSE(one.turns.take_out(2));
    CHECK_FALSE(one.turns.take_out(1));  // it has gone
    one.end("a");
    CHECK(one.next() == "told;");
    CHECK(one.turns.take_out(3));
    CHECK_FALSE(one.turns.has_waiting());
    one.end("a");
    CHECK(one.next().empty());
  }

  TEST_CASE(
      "all servers together have a bound, and whose turn comes by another's end hears of it") {
    const auto all = room({.of_server = 4, .of_all = 4});
    auto one = std::make_unique<Turns>(all);
    Turns other(all);
    for (std::int64_t id = 1; id <= 4; ++id) CHECK(one->begin("", id));
    CHECK_FALSE(other.begin("a", 5));
    int heard = 0;
    all->on_room([&] { ++heard; });
    one->end("");
    all->ring();
    all->ring();
    CHECK(heard == 1);
    CHECK(other.next() == "a5;");
    // One server that fills all leaves room where its clients have shares.
    one.reset();
    CHECK(all->free() == 3);
    other.end("a");
    CHECK(all->free() == 4);
  }

  TEST_CASE("a client leaves as much free over all servers as it has at them together") {
    const auto all = room({.of_server = 8, .of_all = 8});
    Turns one(all);
    Turns other(all);
    for (std::int64_t id = 1; id <= 4; ++id) CHECK(one.begin("a", id));
    CHECK_FALSE(other.begin("a", 5));  // it has none there, and half of all
    CHECK(other.begin("b", 6));
    CHECK(other.next().empty());
    one.end("a");
    CHECK(other.next() == "a5;");
  }

  TEST_CASE("connections that are kept for the next call have a bound over all servers") {
    ConnectionRoom all({.of_server = 4, .of_all = 4, .idle = 2});
    CHECK(all.keep());
    CHECK(all.keep());
    CHECK_FALSE(all.keep());
    all.drop(1);
    CHECK(all.keep());
  }

  TEST_CASE("connections to servers leave most of what a process may open to others") {
    const auto limits = ConnectionLimits::of_this_process();
    CHECK(limits.of_server <= limits.of_all);
    CHECK(limits.of_all <= 512);
    CHECK(limits.idle <= limits.of_all / 2);
    CHECK(limits.of_all >= 32);
  }
}
