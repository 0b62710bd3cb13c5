// A server whose messages take long to read leaves others their turns, over both transports.
#include "mcp/read_throttle.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "mcp/http_readings.h"
#include "mcp/http_transport.h"
#include "mcp/stdio_transport.h"
#include "mcp/support_http.h"

using namespace mcpac;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

// Takes long over each of three messages. Whoever else has something to do asks for its turn at the
// second, when the third has come already.
struct SlowReader {
  explicit SlowReader(asio::io_context& of) : loop(of) {}
  mcp::TransportEvents events() {
    mcp::TransportEvents heard;
    heard.on_message = [this](std::string_view, std::optional<std::int64_t>) {
      order.emplace_back("message");
      std::this_thread::sleep_for(120ms);
      if (++messages == 2) asio::post(loop, [this] { order.emplace_back("another"); });
      if (messages == 3) asio::post(loop, [this] { done(); });
    };
    heard.is_waiting = [this](std::int64_t) { return messages < 3; };
    heard.on_request_failed = [this](std::int64_t, const Error&) { done(); };
    heard.on_closed = [this](const Error&) { done(); };
    return heard;
  }
  asio::io_context& loop;
  int messages = 0;
  std::vector<std::string> order;
  std::function<void()> done = [] {};
};

// A server on standard input that is `command`.
std::shared_ptr<mcp::StdioTransport> started(asio::io_context& loop, std::string command,
                                             std::vector<std::string> arguments) {
  auto secrets = std::make_shared<mcp::SecretValues>();
  mcp::ServerConfig config;
  config.name = "server";
  config.command = std::move(command);
  config.arguments = std::move(arguments);
  auto target = mcp::make_stdio_target(config, *secrets);
  REQUIRE(target.has_value());
  std::shared_ptr<mcp::StdioTransport> server;
  asio::co_spawn(
      loop,
      [&]() -> asio::awaitable<void> {
        auto made =
            co_await mcp::StdioTransport::start_server(loop.get_executor(), *target, secrets);
        if (made) server = std::move(*made);
      },
      asio::detached);
  loop.run();
  loop.restart();
  REQUIRE(server != nullptr);
  return server;
}

const std::vector<std::string> kBetween = {"message", "message", "another", "message"};

}  // namespace

TEST_SUITE("mcp/reading pace") {
  TEST_CASE("what takes milliseconds never rests; what takes longer has a third of the time") {
    using Clock = mcp::ReadThrottle::Clock;
    const Clock::time_point now{1h};
    mcp::ReadThrottle of_short;
    CHECK(of_short.rest(now) == 0ms);
    for (int i = 0; i < 100; ++i) of_short.took(now + i * 50ms, now + (i + 1) * 50ms);
    CHECK(of_short.rest(now + 5s) == 0ms);
    mcp::ReadThrottle of_long;
    of_long.took(now, now + 1s);
    CHECK(of_long.rest(now + 1s) == 2s);
    CHECK(of_long.rest(now + 2500ms) == 500ms);
    CHECK(of_long.rest(now + 3s) == 0ms);
  }

  TEST_CASE(
      "several that take a tenth of a second add up, and no rest is longer than ten seconds") {
    using Clock = mcp::ReadThrottle::Clock;
    const Clock::time_point now{1h};
    mcp::ReadThrottle pace;
    pace.took(now, now + 100ms);
    CHECK(pace.rest(now + 100ms) == 0ms);
    pace.took(now + 100ms, now + 200ms);
    CHECK(pace.rest(now + 200ms) == 400ms);
    pace.took(now + 1s, now + 2h);
    CHECK(pace.rest(now + 2h) == 10s);
  }

  TEST_CASE("over stdio others have their turn between two lines that were read together") {
    asio::io_context loop;
    const auto server = started(loop, "sh", {"-c", "printf '1\\n2\\n3\\n'; read -r end"});
    SlowReader reader(loop);
    reader.done = [&] { server->kill(); };
    server->start(reader.events());
    loop.run();
    CHECK(reader.order == kBetween);
  }

  TEST_CASE("what a server said before it ended is read, however long its rest would be") {
    asio::io_context loop;
    const auto server = started(loop, "printf", {"1\\n2\\n3\\n"});
    std::vector<std::string> order;
    mcp::TransportEvents heard;
    heard.on_message = [&](std::string_view line, std::optional<std::int64_t>) {
      order.emplace_back(line);
      std::this_thread::sleep_for(400ms);  // a rest of 800, and an end is told after 500
    };
    heard.on_closed = [&](const Error&) { order.emplace_back("closed"); };
    server->start(std::move(heard));
    loop.run();
    CHECK(order == std::vector<std::string>{"1", "2", "3", "closed"});
  }

  TEST_CASE("over HTTP others have their turn between two events that were read together") {
    test::HttpFixture web({"stateless"});
    asio::io_context loop;
    mcp::SecretValues secrets;
    auto made = mcp::HttpTransport::make(loop.get_executor(), web.config("/sse"), secrets, nullptr,
                                         std::make_shared<mcp::ConnectionRoom>());
    REQUIRE(made.has_value());
    SlowReader reader(loop);
    reader.done = [&] { (*made)->kill(); };
    (*made)->start(reader.events());
    (*made)->set_protocol(mcp::Era::kStateless, "2026-07-28");
    const Json call = {{"jsonrpc", "2.0"},
                       {"id", 1},
                       {"method", "tools/call"},
                       {"params",
                        {{"name", "progress"},
                         {"arguments", {{"times", 2}, {"every", 0}}},
                         {"_meta", {{"progressToken", 1}}}}}};
    (*made)->send(
        {.line = to_text(call), .request_id = 1, .method = "tools/call", .name = "progress"});
    loop.run();
    CHECK(reader.order == kBetween);
  }

  TEST_CASE("of much that has no end only the oldest goes on, and of little all do") {
    using Readings = mcp::HttpReadings;
    constexpr std::size_t kMiB = std::size_t{1} << 20U;
    Readings all;
    Readings::Reading small(all, Readings::Form::kEvents);
    Readings::Reading other(all, Readings::Form::kWhole);
    {
      Readings::Reading oldest(all, Readings::Form::kEvents);
      Readings::Reading next(all, Readings::Form::kWhole);
      small.held = 1'000;
      oldest.held = next.held = 32 * kMiB - 500;
      CHECK((all.may_grow(oldest) && all.may_grow(next)));
      next.held += 1;
      CHECK((all.may_grow(small) && all.may_grow(other) && all.may_grow(oldest)));
      CHECK_FALSE(all.may_grow(next));
      other.held = kMiB;  // it has begun before
      CHECK(all.may_grow(other));
      CHECK_FALSE(all.may_grow(oldest));
    }
    CHECK(all.may_grow(other));
  }

  TEST_CASE("announcements that stand still keep no answer waiting") {
    using Readings = mcp::HttpReadings;
    constexpr std::size_t kMiB = std::size_t{1} << 20U;
    Readings all;
    Readings::Reading still(all, Readings::Form::kAnnouncements);
    Readings::Reading answer(all, Readings::Form::kEvents);
    Readings::Reading next(all, Readings::Form::kEvents);
    still.held = 2 * kMiB;
    answer.held = next.held = 32 * kMiB;
    CHECK_FALSE(all.may_grow(still));
    CHECK(all.may_grow(answer));
    CHECK_FALSE(all.may_grow(next));
    answer.held = next.held = 0;
    still.held = 65 * kMiB;
    CHECK(all.may_grow(still));
  }
}
