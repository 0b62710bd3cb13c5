// The client over Streamable HTTP, against tests/servers/http_fixture.mjs.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/file.h"
#include "ipc/lookups.h"
#include "ipc/support_connections.h"
#include "mcp/connection_room.h"
#include "mcp/support.h"

using namespace mcpac;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using test::HttpFixture;
using test::text_of;

namespace {

constexpr std::chrono::milliseconds kPatience = 300s;

struct Connected {
  asio::io_context loop;
  int changes = 0;
  Result<std::unique_ptr<mcp::Client>> client;

  explicit Connected(mcp::ServerConfig config, bool watch_changes = false, mcp::Events events = {})
      : client(nullptr) {
    if (watch_changes) events.tools_changed = [this] { ++changes; };
    client = test::run(loop, mcp::Client::connect(loop.get_executor(), std::move(config), events));
  }
  ~Connected() {
    if (client && *client) test::run(loop, (*client)->close());
    client = nullptr;
    loop.restart();
    loop.run();  // ends only when nothing is left to wait for
  }
  Connected(const Connected&) = delete;
  Connected& operator=(const Connected&) = delete;

  mcp::Client& operator*() { return **client; }
  Result<Json> call(std::string tool, std::string_view arguments = "{}",
                    std::chrono::milliseconds timeout = kPatience) {
    return test::run(loop, (*client)->call_tool(std::move(tool), *parse_json(arguments), timeout));
  }
  Result<ServerListing> list() { return test::run(loop, (*client)->list_tools()); }
};

ErrorId id_of(const Result<Json>& result) {
  REQUIRE_FALSE(result.has_value());
  return result.error().id;
}

// Of each connection of this process to that port: how many bytes of it were read.
std::vector<std::uint64_t> read_from(int port) {
  std::vector<std::uint64_t> all;
  for (const int fd : test::connections_of_port(test::End::kTheirs, port)) {
    // The beginning of the kernel's struct tcp_info, up to tcpi_bytes_received: the C library's
    // ends before it.
    std::array<std::uint64_t, 17> info{};
    int waiting = 0;
    socklen_t size = sizeof info;
    REQUIRE(::getsockopt(fd, IPPROTO_TCP, TCP_INFO, info.data(), &size) == 0);
    REQUIRE(::ioctl(fd, FIONREAD, &waiting) == 0);
    all.push_back(info.back() - static_cast<std::uint64_t>(waiting));
  }
  return all;
}

bool asked(const Json& log, std::string_view method) {
  return std::ranges::any_of(log, [&](const Json& e) { return e["method"] == method; });
}

// What each GET asked to go on after.
Json events_asked_for(const Json& log) {
  Json events = Json::array();
  for (const Json& entry : log) {
    if (entry["method"] == "GET") events.push_back(entry["event"]);
  }
  return events;
}

}  // namespace

TEST_SUITE("mcp/http") {
  TEST_CASE("a server with sessions is initialized, listed and called, with JSON and with events") {
    HttpFixture web({"initialize"});
    for (const std::string path : {"/json", "/sse"}) {
      Connected server(web.config(path));
      REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
      CHECK((*server).protocol_version() == "2025-11-25");
      auto listing = server.list();
      REQUIRE_MESSAGE(listing.has_value(), test::shown(listing));
      CHECK(listing->tools.size() == 7);
      CHECK(listing->implementation == "http-fixture 4.5.6");
      CHECK(text_of(server.call("echo", R"({"a":1})")) == R"({"tool":"echo","arguments":{"a":1}})");
    }
  }

  TEST_CASE(
      "session and protocol version travel as headers, and the session is deleted at the end") {
    HttpFixture web({"initialize"});
    {
      Connected server(web.config("/json"));
      auto headers = parse_json(text_of(server.call("headers")));
      REQUIRE(headers.has_value());
      CHECK((*headers)["mcp-session-id"] == "session-1");
      CHECK((*headers)["mcp-protocol-version"] == "2025-11-25");
      CHECK((*headers)["accept"] == "application/json, text/event-stream");
      CHECK_FALSE(headers->contains("mcp-method"));
    }
    const Json log = web.log();
    CHECK(log[1]["method"] == "initialize");
    CHECK(log[1]["version"].is_null());
    CHECK(log[2]["method"] == "notifications/initialized");
    CHECK(log.back()["method"] == "DELETE");
    CHECK(log.back()["session"] == "session-1");
  }

  TEST_CASE("a stateless server gets its headers and no session") {
    for (const std::string mode : {"stateless", "both"}) {
      HttpFixture web({mode});
      {
        Connected server(web.config("/sse"));
        REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
        CHECK((*server).protocol_version() == "2026-07-28");
        CHECK(text_of(server.call("echo")) == R"({"tool":"echo","arguments":{}})");
        CHECK(text_of(server.call("naïve näme")).find("naïve") != std::string::npos);
      }
      const Json log = web.log();
      CHECK_FALSE(asked(log, "initialize"));
      CHECK_FALSE(asked(log, "DELETE"));
      CHECK(log[1]["mcpMethod"] == "tools/call");
      CHECK(log[1]["mcpName"] == "echo");
      CHECK(log[2]["mcpName"] == "=?base64?bmHDr3ZlIG7DpG1l?=");
    }
  }

  TEST_CASE("a lost session is an error, for this call and all after it") {
    HttpFixture web({"initialize"});
    Connected server(web.config("/loses-session"));
    CHECK(server.call("echo").has_value());
    auto lost = server.call("echo");
    CHECK(id_of(lost) == ErrorId::kServerHttp);
    CHECK(lost.error().what.find("session") != std::string::npos);
    CHECK(id_of(server.call("echo")) == ErrorId::kServerHttp);
  }

  TEST_CASE("a stream that breaks before the answer is resumed where it broke") {
    HttpFixture web({"initialize"});
    Connected server(web.config("/resume"));
    CHECK(text_of(server.call("echo")) == R"({"tool":"echo","arguments":{}})");
    CHECK(web.log().back()["method"] == "GET");
  }

  TEST_CASE(
      "a stream that breaks and cannot be resumed is an error, and the call is not repeated") {
    HttpFixture web({"initialize"});
    Connected server(web.config("/broken"));
    CHECK(id_of(server.call("echo")) == ErrorId::kServerHttp);
    const Json log = web.log();
    CHECK(std::ranges::count_if(log, [](const Json& e) { return e["method"] == "tools/call"; }) ==
          1);
  }

  TEST_CASE("redirects, refusals and web pages are errors that say what to do") {
    HttpFixture web({"initialize"});
    Connected moved(web.config("/redirect"));
    REQUIRE_FALSE(moved.client.has_value());
    CHECK(moved.client.error().id == ErrorId::kServerHttp);
    CHECK(moved.client.error().fix.find("http://127.0.0.1:1/elsewhere") != std::string::npos);
    Connected page(web.config("/html"));
    REQUIRE_FALSE(page.client.has_value());
    CHECK(page.client.error().what.find("text/html") != std::string::npos);
    Connected unknown(web.config("/unauthorized"));
    REQUIRE_FALSE(unknown.client.has_value());
    CHECK(unknown.client.error().what.find("401") != std::string::npos);
    CHECK(unknown.client.error().fix.find("Authorization") != std::string::npos);
  }

  TEST_CASE("a secret header reaches the server and no error shows it") {
    ::setenv("MCPAC_TEST_BEARER", "b34rer-s3cret", 1);
    HttpFixture web({"initialize"});
    auto config = web.config("/unauthorized");
    config.headers = {{"Authorization", "Bearer ${env:MCPAC_TEST_BEARER}"}};
    Connected refused(config);
    REQUIRE_FALSE(refused.client.has_value());
    CHECK(refused.client.error().why == "no: Bearer ${env:MCPAC_TEST_BEARER}");
    config.url = web.config("/json").url;
    Connected server(config);
    auto headers = parse_json(text_of(server.call("headers")));
    REQUIRE(headers.has_value());
    CHECK((*headers)["authorization"] == "Bearer ${env:MCPAC_TEST_BEARER}");
  }

  TEST_CASE("a line break in an expanded header is refused before anything is sent") {
    ::setenv("MCPAC_TEST_BROKEN", "x\r\nX-Injected: yes", 1);
    HttpFixture web({"initialize"});
    auto config = web.config("/json");
    config.headers = {{"Authorization", "${env:MCPAC_TEST_BROKEN}"}};
    Connected server(config);
    REQUIRE_FALSE(server.client.has_value());
    CHECK(server.client.error().id == ErrorId::kConfigInvalid);
    CHECK(server.client.error().to_text().find("Injected") == std::string::npos);
    CHECK(web.log().empty());
  }

  TEST_CASE("an event without end is cut off at the limit") {
    HttpFixture web({"initialize"});
    Connected server(web.config("/endless"));
    CHECK(id_of(server.call("echo")) == ErrorId::kServerLimit);
  }

  TEST_CASE("a JSON answer over the limit is an error") {
    HttpFixture web({"initialize"});
    Connected server(web.config("/json"));
    CHECK(text_of(server.call("big", R"({"bytes":10485760})")).size() == 10485760);
    CHECK(id_of(server.call("big", R"({"bytes":17000000})")) == ErrorId::kServerLimit);
    CHECK(server.call("echo").has_value());
  }

  TEST_CASE("large answers to calls at the same time all come, also behind one that stalls") {
    HttpFixture web({"initialize"});
    Connected server(web.config("/stalls"));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    std::optional<Result<Json>> stalled;
    std::vector<std::size_t> sizes;
    const auto begin = [&](const char* tool, std::function<void(Result<Json>)> done) {
      asio::co_spawn(
          server.loop, (*server).call_tool(tool, {{"bytes", 3 << 20}}, kPatience),
          [done](const std::exception_ptr&, Result<Json> result) { done(std::move(result)); });
    };
    // Its body is the first that is read, and it goes on while the others come.
    begin("slow", [&](Result<Json> result) { stalled = std::move(result); });
    CHECK(server.call("echo").has_value());
    for (int i = 0; i < 5; ++i)
      begin("big", [&](const Result<Json>& result) { sizes.push_back(text_of(result).size()); });
    while (sizes.size() < 5 && server.loop.run_one() > 0) continue;
    CHECK(sizes == std::vector<std::size_t>(5, 3 << 20));
    CHECK_FALSE(stalled.has_value());
    test::run(server.loop, (*server).close());
    while (!stalled && server.loop.run_one() > 0) continue;
    REQUIRE(stalled);
    CHECK_FALSE(stalled->has_value());
  }

  // Behind one with which the server is behind, too: else all would wait for it in small steps.
  TEST_CASE("large answers that come at the same time are read one after the other") {
    std::string path = "/json";
    SUBCASE("all are there") {}
    SUBCASE("the rest of an older one is not there") {
      path = "/stalls";
    }
    SUBCASE("nothing of an older one is there but its head") {
      path = "/stalls-at-once";
    }
    const bool one_stalls = path != "/json";
    HttpFixture web({"initialize"});
    Connected server(web.config(path));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    constexpr std::size_t kBytes = std::size_t{3} << 20U;
    if (one_stalls) {
      asio::co_spawn(server.loop, (*server).call_tool("slow", {{"bytes", 3 << 20}}, kPatience),
                     [](const std::exception_ptr&, const Result<Json>&) {});
      CHECK(server.call("echo").has_value());
    }
    std::size_t ended = 0;
    for (int i = 0; i < 5; ++i) {
      asio::co_spawn(server.loop, (*server).call_tool("big", {{"bytes", kBytes}}, kPatience),
                     [&](const std::exception_ptr&, const Result<Json>& result) {
                       CHECK(text_of(result).size() == kBytes);
                       ++ended;
                     });
    }
    const auto calls = [&] {
      return std::ranges::count_if(web.log(),
                                   [](const Json& e) { return e["method"] == "tools/call"; });
    };
    server.loop.restart();
    while (calls() < (one_stalls ? 7 : 5)) server.loop.poll();
    // Now as much of each as the kernel holds is there.
    std::this_thread::sleep_for(300ms);
    while (ended == 0 && server.loop.run_one() > 0) continue;
    const auto read = read_from(web.port());
    const auto over = [&](std::size_t bytes) {
      return std::ranges::count_if(read, [bytes](std::uint64_t one) { return one > bytes; });
    };
    CHECK(over(0) >= 5);
    CHECK(over(kBytes / 2) == 1);
    while (ended < 5 && server.loop.run_one() > 0) continue;
    CHECK(ended == 5);
  }

  TEST_CASE("connections of a burst serve the next one, and go when nobody calls any more") {
    HttpFixture web({"initialize"});
    Connected server(web.config("/json"));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    constexpr std::size_t kBurst = 60;
    const auto burst = [&] {
      std::size_t ended = 0;
      for (std::size_t i = 0; i < kBurst; ++i) {
        asio::co_spawn(server.loop, (*server).call_tool("slow", {{"ms", 100}}, kPatience),
                       [&](const std::exception_ptr&, const Result<Json>& result) {
                         CHECK(result.has_value());
                         ++ended;
                       });
      }
      server.loop.restart();
      while (ended < kBurst && server.loop.run_one() > 0) continue;
    };
    burst();
    const auto opened = [&] { return read_from(web.port()).size(); };
    CHECK(opened() >= kBurst);
    const std::size_t first = opened();
    burst();
    CHECK(opened() == first);
    // One may be the stream that the server says things on.
    while (opened() > 1 && server.loop.run_one_for(kPatience) > 0) continue;
    CHECK(opened() <= 1);
    CHECK(server.call("echo").has_value());
  }

  TEST_CASE(
      "one client's calls of a slow tool take no more connections than leave some to others") {
    HttpFixture web({"initialize"});
    mcp::Events events;
    events.connections = std::make_shared<mcp::ConnectionRoom>(
        mcp::ConnectionLimits{.of_server = 8, .of_all = 8, .idle = 8});
    Connected server(web.config("/json"), false, std::move(events));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    std::vector<asio::cancellation_signal> signals(40);
    std::vector<std::optional<Result<Json>>> ends(40);
    const auto start = [&](std::size_t which, const std::string& client, const std::string& tool,
                           std::chrono::milliseconds timeout) {
      mcp::ToolCall call{.tool = tool, .arguments = {{"ms", 300'000}}, .timeout = timeout};
      call.events.client = client;
      (*server).start_call(
          std::move(call), [&ends, which](Result<Json> given) { ends[which] = std::move(given); },
          signals[which].slot());
    };
    const auto until_ended = [&](std::size_t which) {
      server.loop.restart();
      while (!ends[which] && server.loop.run_one() > 0) {
      }
    };
    for (std::size_t i = 0; i < 30; ++i) start(i, "a", "slow", kPatience);
    start(30, "a", "echo", 100ms);  // waits longer than it has time
    start(31, "b", "echo", kPatience);
    until_ended(31);
    CHECK(text_of(*ends[31]).contains(R"("tool":"echo")"));
    until_ended(30);
    CHECK(id_of(*ends[30]) == ErrorId::kServerBusy);
    CHECK(read_from(web.port()).size() <= 8);
    const auto of_calls = [&](std::string_view method) {
      const Json log = web.log();
      return std::ranges::count_if(log, [&](const Json& e) { return e["method"] == method; });
    };
    CHECK(of_calls("tools/call") == 5);  // four of them are of a
    // What has not begun ends without a word to the server; what has gives its place to the next.
    for (std::size_t i = 4; i < 30; ++i) signals[i].emit(asio::cancellation_type::terminal);
    until_ended(29);
    CHECK(id_of(*ends[29]) == ErrorId::kServerCancelled);
    start(32, "a", "echo", kPatience);
    for (std::size_t i = 0; i < 2; ++i) signals[i].emit(asio::cancellation_type::terminal);
    until_ended(32);
    CHECK(text_of(*ends[32]).contains(R"("tool":"echo")"));
    CHECK(of_calls("tools/call") == 6);
    CHECK(of_calls("notifications/cancelled") <= 2);
    for (std::size_t i = 2; i < 4; ++i) signals[i].emit(asio::cancellation_type::terminal);
    until_ended(3);
  }

  TEST_CASE("calls that wait for a connection have one in the end, more than there are at a time") {
    HttpFixture web({"stateless"});
    mcp::Events events;
    events.connections = std::make_shared<mcp::ConnectionRoom>(
        mcp::ConnectionLimits{.of_server = 4, .of_all = 4, .idle = 4});
    Connected server(web.config("/json"), false, std::move(events));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    std::size_t ended = 0;
    constexpr std::size_t kCalls = 40;
    std::size_t most = 0;
    for (std::size_t i = 0; i < kCalls; ++i) {
      asio::co_spawn(server.loop, (*server).call_tool("slow", {{"ms", 10}}, kPatience),
                     [&](const std::exception_ptr&, const Result<Json>& result) {
                       CHECK(result.has_value());
                       most = std::max(most, read_from(web.port()).size());
                       ++ended;
                     });
    }
    server.loop.restart();
    while (ended < kCalls && server.loop.run_one() > 0) continue;
    CHECK(ended == kCalls);
    CHECK(most <= 4);
  }

  // As one that waits for its answer does: a server that is busy is asked again, and one that
  // lists too much is not (execute/host/upstream_restart).
  TEST_CASE("a list that has no turn in its time is told as one that was too slow") {
    HttpFixture web({"stateless"});
    mcp::Events events;
    events.connections = std::make_shared<mcp::ConnectionRoom>(
        mcp::ConnectionLimits{.of_server = 1, .of_all = 1, .idle = 1});
    auto config = web.config("/json");
    config.timeout = 2s;
    Connected server(std::move(config), false, std::move(events));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    asio::cancellation_signal signal;
    std::optional<Result<Json>> end;
    (*server).start_call(
        {.tool = "slow", .arguments = {{"ms", 300'000}}, .timeout = kPatience},
        [&](Result<Json> given) { end = std::move(given); }, signal.slot());
    const auto listed = test::run(server.loop, (*server).list_tools());
    REQUIRE_FALSE(listed.has_value());
    CHECK(listed.error().id == ErrorId::kServerTimeout);
    CHECK_FALSE(end.has_value());
    signal.emit(asio::cancellation_type::terminal);
    server.loop.restart();
    while (!end && server.loop.run_one() > 0) {
    }
    CHECK(test::run(server.loop, (*server).list_tools()).has_value());
  }

  TEST_CASE("a call that has no turn in its time is told as one that the server never saw") {
    HttpFixture web({"stateless"});
    mcp::Events events;
    events.connections = std::make_shared<mcp::ConnectionRoom>(
        mcp::ConnectionLimits{.of_server = 1, .of_all = 1, .idle = 1});
    Connected server(web.config("/json"), false, std::move(events));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    asio::cancellation_signal signal;
    std::vector<std::optional<Result<Json>>> ends(2);
    const auto start = [&](std::size_t which, std::string tool, std::chrono::milliseconds timeout,
                           asio::cancellation_slot slot) {
      (*server).start_call(
          {.tool = std::move(tool), .arguments = {{"ms", 300'000}}, .timeout = timeout},
          [&ends, which](Result<Json> given) { ends[which] = std::move(given); }, slot);
    };
    const auto until_ended = [&](std::size_t which) {
      server.loop.restart();
      while (!ends[which] && server.loop.run_one() > 0) {
      }
    };
    start(0, "slow", kPatience, signal.slot());
    start(1, "echo", 50ms, {});
    until_ended(1);
    const Result<Json> also = server.call("echo", "{}", 50ms);
    for (const auto& waited : {*ends[1], also}) {
      CHECK(id_of(waited) == ErrorId::kServerBusy);
      CHECK(waited.error().what.contains("was not sent"));
    }
    CHECK_FALSE(ends[0].has_value());
    signal.emit(asio::cancellation_type::terminal);
    until_ended(0);
    CHECK(server.call("echo").has_value());
  }

  TEST_CASE("what frames an answer is bounded like the answer itself") {
    for (const std::string path : {"/long-chunk-line", "/long-trailer"}) {
      CAPTURE(path);
      HttpFixture web({"initialize"});
      Connected server(web.config(path));
      REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
      CHECK(id_of(server.call("echo")) == ErrorId::kServerLimit);
    }
  }

  TEST_CASE("a server that asks on and takes no answers is given up") {
    HttpFixture web({"initialize"});
    Connected server(web.config("/asks-on"));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    CHECK(server.call("echo", R"({"times":60})").has_value());
    const auto flooded = server.call("echo", R"({"times":60})");
    CHECK(id_of(flooded) == ErrorId::kServerLimit);
    CHECK(flooded.error().what.find("does not take the answers") != std::string::npos);
    CHECK_FALSE((*server).is_alive());
  }

  TEST_CASE("a call whose time is up is cancelled") {
    HttpFixture web({"initialize"});
    Connected server(web.config("/json"));
    CHECK(id_of(server.call("slow", R"({"ms":60000})", 50ms)) == ErrorId::kServerTimeout);
    CHECK(server.call("echo").has_value());
    CHECK(asked(web.log(), "notifications/cancelled"));
  }

  TEST_CASE("calls that no coroutine waits for end each by itself: answered, late, taken back") {
    HttpFixture web({"stateless"});
    for (const std::string path : {"/json", "/sse"}) {
      CAPTURE(path);
      Connected server(web.config(path));
      asio::cancellation_signal signal;
      std::vector<std::optional<Result<Json>>> ends(3);
      const auto start = [&](std::size_t which, std::string tool, std::chrono::milliseconds timeout,
                             asio::cancellation_slot slot) {
        (*server).start_call(
            {.tool = std::move(tool),
             .arguments = *parse_json(R"({"ms":300000})"),
             .timeout = timeout},
            [&ends, which](Result<Json> given) { ends[which] = std::move(given); }, slot);
      };
      start(0, "echo", kPatience, {});
      start(1, "slow", 50ms, {});
      start(2, "slow", kPatience, signal.slot());
      server.loop.restart();
      while ((!ends[0] || !ends[1]) && server.loop.run_one() > 0) {
      }
      REQUIRE((ends[0] && ends[1]));
      CHECK(text_of(*ends[0]).contains(R"("tool":"echo")"));
      CHECK(id_of(*ends[1]) == ErrorId::kServerTimeout);
      CHECK_FALSE(ends[2].has_value());
      signal.emit(asio::cancellation_type::terminal);
      while (!ends[2] && server.loop.run_one() > 0) {
      }
      REQUIRE(ends[2].has_value());
      CHECK(id_of(*ends[2]) == ErrorId::kServerCancelled);
    }
  }

  TEST_CASE("progress on the stream starts the timeout anew") {
    HttpFixture web({"initialize"});
    Connected server(web.config("/sse"));
    CHECK(text_of(server.call("progress", R"({"times":60,"every":100})", 3000ms)) == "arrived");
  }

  TEST_CASE("a changed list of tools is announced, in both eras") {
    for (const std::string mode : {"initialize", "stateless"}) {
      HttpFixture web({mode});
      Connected server(web.config("/sse"), true);
      REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
      // The stream of announcements opens beside the calls, so ask until it is there.
      for (int i = 0; i < 200 && server.changes == 0; ++i) {
        CHECK(text_of(server.call("change")) == "changed");
        asio::steady_timer timer(server.loop, 20ms);
        server.loop.restart();
        bool rang = false;
        timer.async_wait([&](auto) { rang = true; });
        while (!rang) server.loop.run_one();
      }
      CHECK(server.changes > 0);
    }
  }

  TEST_CASE("what announcements come on is opened anew however it ended, and is looked behind") {
    for (const std::string mode : {"initialize", "stateless"}) {
      CAPTURE(mode);
      HttpFixture web({mode});
      Connected server(web.config("/ends-listening"), true);
      REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
      const auto changes = [&](int wanted) {
        server.loop.restart();
        while (server.changes < wanted && server.loop.run_one() > 0) continue;
        return server.changes;
      };
      // Each time that it stood again something may have changed; the first time nothing did.
      const int before = mode == "initialize" ? 5 : 1;
      CHECK(changes(before) == before);
      CHECK(text_of(server.call("change")) == "changed");
      CHECK(changes(before + 1) == before + 1);
      CHECK((*server).is_alive());
    }
  }

  TEST_CASE("where a server has forgotten an event, its announcements are heard from now on") {
    for (const int status : {400, 410}) {
      CAPTURE(status);
      HttpFixture web({"initialize"});
      Connected server(web.config(fmt::format("/forgets-events?{}", status)), true);
      REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
      const auto until_changed = [&](int times) {
        server.loop.restart();
        while (server.changes < times && server.loop.run_one() > 0) continue;
      };
      until_changed(1);  // what was missed is looked for
      CHECK(text_of(server.call("change")) == "changed");
      until_changed(2);
      CHECK(events_asked_for(web.log()) == Json{nullptr, "forgotten", nullptr});
    }
  }

  TEST_CASE("a session that was lost is not listened to again") {
    HttpFixture web({"initialize"});
    Connected server(web.config("/forgets-events?404"), true);
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    server.loop.restart();
    while ((*server).is_alive() && server.changes == 0 && server.loop.run_one() > 0) continue;
    REQUIRE_FALSE((*server).is_alive());
    server.loop.run();  // nothing is left to wait for
    CHECK(events_asked_for(web.log()) == Json{nullptr, "forgotten"});
    CHECK(server.changes == 0);
    CHECK(id_of(server.call("echo")) == ErrorId::kServerHttp);
  }

  TEST_CASE("connections to a server notice that it is gone without a word") {
    HttpFixture web({"stateless"});
    Connected server(web.config("/json"));
    CHECK(server.call("echo").has_value());
    const auto connections = test::connections_of_port(test::End::kTheirs, web.port());
    CHECK_FALSE(connections.empty());
    for (const int fd : connections) test::check_notices_dead_peer(fd);
  }

  TEST_CASE("nobody listening is an error at once") {
    mcp::ServerConfig config;
    config.name = "web";
    config.url = "http://127.0.0.1:1/mcp";
    Connected server(config);
    REQUIRE_FALSE(server.client.has_value());
    CHECK(server.client.error().id == ErrorId::kServerHttp);
  }

  TEST_CASE("a name server that does not answer holds up neither a server's start nor the end") {
    // The thread has all of it: it may go on when this test is over.
    std::promise<void> release;
    const std::shared_future<void> held = release.get_future().share();
    asio::io_context loop;
    ipc::replace_system_lookups(
        loop.get_executor(),
        std::make_shared<ipc::Lookups>(loop.get_executor(), [held](const std::string&) {
          held.wait();
          return Result<ipc::Addresses>();
        }));
    mcp::ServerConfig config;
    config.name = "web";
    config.url = "http://server.example/mcp";
    config.era = mcp::Era::kInitialize;
    config.timeout = 50ms;
    const auto client = test::run(loop, mcp::Client::connect(loop.get_executor(), config));
    REQUIRE_FALSE(client.has_value());
    CHECK(client.error().id == ErrorId::kServerTimeout);
    loop.restart();
    loop.run();  // nothing is left to wait for
    release.set_value();
  }

  TEST_CASE("a certificate is verified: against known roots and the host's name") {
    auto folder = TemporaryFolder::create("/tmp", "mcpac-test-");
    REQUIRE(folder.has_value());
    const auto key = (folder->path() / "key.pem").string();
    const auto cert = (folder->path() / "cert.pem").string();
    const auto made = ::system(
        fmt::format(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
            "-subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout {} -out {} "
            "2>/dev/null",
            key, cert)
            .c_str());
    REQUIRE(made == 0);
    HttpFixture web({"initialize", "--key", key, "--cert", cert});
    const auto connect = [&](const std::string& host) {
      mcp::ServerConfig config;
      config.name = "web";
      config.url = fmt::format("https://{}:{}/json", host, web.port());
      return config;
    };
    {
      Connected unknown_root(connect("localhost"));
      REQUIRE_FALSE(unknown_root.client.has_value());
      CHECK(unknown_root.client.error().id == ErrorId::kServerTls);
    }
    ::setenv("SSL_CERT_FILE", cert.c_str(), 1);
    {
      Connected trusted(connect("localhost"));
      CHECK_MESSAGE(trusted.client.has_value(), test::shown(trusted.client));
      if (trusted.client) CHECK(trusted.call("echo").has_value());
      Connected other_name(connect("127.0.0.1"));
      REQUIRE_FALSE(other_name.client.has_value());
      CHECK(other_name.client.error().id == ErrorId::kServerTls);
    }
    ::unsetenv("SSL_CERT_FILE");
  }
}
