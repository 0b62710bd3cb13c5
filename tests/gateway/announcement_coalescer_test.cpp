// What servers announce by themselves, and how often clients hear of it.
#include "gateway/announcement_coalescer.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "gateway/server_watch.h"
#include "gateway/support_offers.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

struct Told {
  boost::asio::io_context loop;
  AnnouncementCoalescer pace{loop.get_executor()};
  std::vector<std::string> uris;

  void update(const std::string& server, const std::string& watched, const std::string& uri) {
    pace.tell({server, "updated", watched}, uri,
              [this](const std::string& told) { uris.push_back(told); });
  }
  int lists = 0;
  void list_changed(const std::string& server, const std::string& method) {
    pace.tell({server, method, ""}, "", [this](const std::string&) { ++lists; });
  }
};

}  // namespace

TEST_SUITE("gateway/announcement_coalescer") {
  TEST_CASE("announcements that come too fast become one, and the last is not missed") {
    Told told;
    for (int i = 0; i < 1'000; ++i) told.update("fs", "x://a", i == 0 ? "x://a/0" : "x://a/last");
    CHECK(told.uris == std::vector<std::string>{"x://a/0"});
    told.loop.run();
    CHECK(told.uris == std::vector<std::string>{"x://a/0", "x://a/last"});
    CHECK(told.pace.count() == 0);
  }

  TEST_CASE("several parts that changed meanwhile are the whole that is watched") {
    Told told;
    for (int i = 0; i < 1'000; ++i) told.update("fs", "x://a", "x://a/" + std::to_string(i));
    CHECK(told.pace.count() == 1);
    told.loop.run();
    CHECK(told.uris == std::vector<std::string>{"x://a/0", "x://a"});
  }

  TEST_CASE("a server that announces too much takes the place of nobody else's announcements") {
    Told told;
    for (int i = 0; i < 5'000; ++i) told.update("evil", std::to_string(i), std::to_string(i));
    CHECK(told.uris.size() == 1'024);
    told.update("good", "x://a", "x://a");
    CHECK(told.uris.back() == "x://a");
    for (const char* server : {"evil", "good"}) {
      told.list_changed(server, "prompts");
      told.list_changed(server, "resources");
    }
    CHECK(told.lists == 4);
    told.loop.run();
    CHECK(told.pace.count() == 0);
    told.update("evil", "x://b", "x://b");  // there is room again
    CHECK(told.uris.back() == "x://b");
  }

  TEST_CASE("what is announced is about the resource that somebody watches, or about none") {
    boost::asio::io_context loop;
    FakeServers servers;
    servers.add("fs", Json::array());
    ServerWatch watch(servers, loop.get_executor());
    for (const char* uri : {"x://a", "x://a/b", "x://a/bc", "x://a/b/zz", "y://", "z"})
      watch.subscribe({"a client", watch.new_subscriber()}, "fs", uri, nullptr, [](const auto&) {});
    const auto whole = [&](const std::string& uri) {
      return watch.subscriptions().watched_whole("fs", uri).value_or("none");
    };
    CHECK(whole("x://a") == "x://a");
    CHECK(whole("x://a/q") == "x://a");
    CHECK(whole("x://a#q") == "x://a");
    CHECK(whole("x://a/b/c") == "x://a/b");
    CHECK(whole("x://a/bcd") == "x://a");
    CHECK(whole("x://a/b/zzz/1") == "x://a/b");
    CHECK(whole("x://ab") == "none");
    CHECK(whole("x://") == "none");
    CHECK(whole("y://1/2") == "y://");
    CHECK(whole("zz") == "none");
    CHECK(whole("a") == "none");
    CHECK(whole("") == "none");
    CHECK_FALSE(watch.subscriptions().watched_whole("git", "x://a"));
  }
}
