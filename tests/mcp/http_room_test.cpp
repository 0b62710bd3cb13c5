// Calls over HTTP that share connections and turns with others, and large answers that come at the
// same time.
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include <boost/asio/cancellation_signal.hpp>

#include "ipc/support_connections.h"
#include "mcp/connection_room.h"
#include "mcp/support_http.h"

using namespace mcpac;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using namespace test;

namespace {

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

}  // namespace

TEST_SUITE("mcp/http_room") {
  TEST_CASE("large answers to calls at the same time all come, also behind one that stalls") {
    HttpFixture web({"initialize"});
    ConnectedOverHttp server(web.config("/stalls"));
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
    ConnectedOverHttp server(web.config(path));
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
    ConnectedOverHttp server(web.config("/json"));
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
    ConnectedOverHttp server(web.config("/json"), false, std::move(events));
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
      server.until([&] { return ends[which].has_value(); });
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
    ConnectedOverHttp server(web.config("/json"), false, std::move(events));
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
  // lists too much is not (servers/upstream_restart).

  TEST_CASE("a list that has no turn in its time is told as one that was too slow") {
    HttpFixture web({"stateless"});
    mcp::Events events;
    events.connections = std::make_shared<mcp::ConnectionRoom>(
        mcp::ConnectionLimits{.of_server = 1, .of_all = 1, .idle = 1});
    auto config = web.config("/json");
    config.timeout = 2s;
    ConnectedOverHttp server(std::move(config), false, std::move(events));
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
    server.until([&] { return end.has_value(); });
    CHECK(test::run(server.loop, (*server).list_tools()).has_value());
  }

  TEST_CASE("a call that has no turn in its time is told as one that the server never saw") {
    HttpFixture web({"stateless"});
    mcp::Events events;
    events.connections = std::make_shared<mcp::ConnectionRoom>(
        mcp::ConnectionLimits{.of_server = 1, .of_all = 1, .idle = 1});
    ConnectedOverHttp server(web.config("/json"), false, std::move(events));
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
      server.until([&] { return ends[which].has_value(); });
    };
    start(0, "slow", kPatience, signal.slot());
    start(1, "echo", 50ms, {});
    until_ended(1);
    const Result<Json> also = server.call("echo", Json::object(), 50ms);
    for (const auto& waited : {*ends[1], also}) {
      CHECK(id_of(waited) == ErrorId::kServerBusy);
      CHECK(waited.error().what.contains("was not sent"));
    }
    CHECK_FALSE(ends[0].has_value());
    signal.emit(asio::cancellation_type::terminal);
    until_ended(0);
    CHECK(server.call("echo").has_value());
  }

  TEST_CASE("a call whose server asked for input is not told as one that the server never saw") {
    HttpFixture web({"stateless"});
    asio::cancellation_signal signal;
    mcp::Client* client = nullptr;
    auto events = answering();
    events.connections = std::make_shared<mcp::ConnectionRoom>(
        mcp::ConnectionLimits{.of_server = 1, .of_all = 1, .idle = 1});
    // Meanwhile another call takes the only turn.
    events.answer = [&](std::string, Json) {
      client->start_call(
          {.tool = "slow", .arguments = {{"ms", 300'000}}, .timeout = kPatience},
          [](const Result<Json>&) {}, signal.slot());
      return answered_with("accept");
    };
    ConnectedOverHttp server(web.config("/json"), false, std::move(events));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    client = &*server;
    const auto asked = server.call("asks", Json::object(), 200ms);
    CHECK(id_of(asked) == ErrorId::kServerTimeout);
    CHECK(asked.error().what.contains("asked for input"));
    signal.emit(asio::cancellation_type::terminal);
    CHECK(server.call("echo").has_value());
  }
}
