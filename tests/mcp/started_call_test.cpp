// Calls of tools that no coroutine waits for, at real servers.
#include <doctest/doctest.h>

#include <optional>
#include <tuple>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "mcp/support_connected.h"

using namespace mcpac;
using namespace mcpac::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

// One call, and how it ended.
struct Call {
  Call(Connected& server, mcp::ToolCall call) {
    (*server).start_call(
        std::move(call),
        [this](Result<Json> given) {
          ++times;
          result = std::move(given);
        },
        signal.slot());
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  void take_back() { signal.emit(asio::cancellation_type::terminal); }

  asio::cancellation_signal signal;
  int times = 0;
  std::optional<Result<Json>> result;
};

mcp::ToolCall to(std::string tool, Json arguments = Json::object(),
                 std::chrono::milliseconds timeout = kPatience) {
  return {.tool = std::move(tool), .arguments = std::move(arguments), .timeout = timeout};
}

Result<Json> ended(Connected& server, mcp::ToolCall call) {
  Call made(server, std::move(call));
  CHECK(made.times == 0);
  server.until([&] { return made.result.has_value(); });
  REQUIRE(made.times == 1);
  return std::move(*made.result);
}

// What the server heard of calls that were taken back.
std::string reasons(Connected& server) {
  std::string all;
  const auto seen = parse_json(text_of(server.call("cancelled")));
  REQUIRE(seen.has_value());
  for (const Json& one : *seen) all += string_member(one, "reason") + ";";
  return all;
}

}  // namespace

TEST_SUITE("mcp/started_call") {
  TEST_CASE("it ends as one that a coroutine waits for, in both eras") {
    for (const std::string mode : {"plain", "stateless"}) {
      CAPTURE(mode);
      Connected server(fixture(mode));
      for (const auto& [tool, arguments] : std::vector<std::pair<std::string, Json>>{
               {"echo", args(R"({"apple": "a"})")},
               {"echo", nullptr},
               {"fail", Json::object()},
               {"rpc_error", Json::object()},
               {"malformed", Json::object()},
               {"input_required", Json::object()},
               {"result", args(R"({"content":[],"resultType":5})")},
               {"result", args(R"({"content":[],"resultType":"other"})")},
               {"result", args(R"({"resultType":"complete","requestState":"s"})")}}) {
        CAPTURE(tool);
        const auto told = ended(server, to(tool, arguments));
        const auto waited = server.call(tool, arguments);
        REQUIRE(told.has_value() == waited.has_value());
        if (told)
          CHECK(*told == *waited);
        else
          CHECK(told.error().to_text() == waited.error().to_text());
      }
    }
  }

  TEST_CASE("one that nobody can take back is answered") {
    Connected server(fixture("plain"));
    std::optional<Result<Json>> result;
    (*server).start_call(to("add", args(R"({"a":1,"b":2})")),
                         [&](Result<Json> given) { result = std::move(given); }, {});
    server.until([&] { return result.has_value(); });
    CHECK(text_of(*result) == "3");
  }

  TEST_CASE("one whose time is up is cancelled at the server, and its late answer is nobody's") {
    Connected server(fixture("plain"));
    Call late(server, to("slow", args(R"({"ms":100})"), 1ms));
    server.until([&] { return late.result.has_value(); });
    CHECK(id_of(*late.result) == ErrorId::kServerTimeout);
    CHECK(text_of(ended(server, to("slow", args(R"({"ms":200})")))) == "slept");
    CHECK(late.times == 1);
    CHECK(reasons(server) == "timed out;");
  }

  TEST_CASE("one that is taken back is cancelled at the server") {
    Connected server(fixture("plain"));
    Call call(server, to("hang"));
    call.take_back();
    CHECK(call.times == 0);
    server.until([&] { return call.result.has_value(); });
    CHECK(id_of(*call.result) == ErrorId::kServerCancelled);
    CHECK(call.result->error().sent == Sent::kMaybeDone);
    CHECK(reasons(server) == "cancelled;");
    CHECK(call.times == 1);
  }

  TEST_CASE("when the server dies it is told what it last said") {
    Connected server(fixture("plain"));
    Call other(server, to("hang"));
    const auto result = ended(server, to("die", args(R"({"status":5,"say":"out of luck"})")));
    CHECK(id_of(result) == ErrorId::kServerDied);
    CHECK(result.error().why.contains("out of luck"));
    server.until([&] { return other.result.has_value(); });
    CHECK(id_of(*other.result) == ErrorId::kServerDied);
    CHECK(other.result->error().sent != Sent::kNo);
    // A server that is gone has nothing of what comes then.
    const auto after = ended(server, to("echo"));
    CHECK(id_of(after) == ErrorId::kServerDied);
    CHECK(after.error().sent == Sent::kNo);
  }

  TEST_CASE("an answer that came before the server ended is told") {
    Connected server(fixture("plain"));
    CHECK(text_of(ended(server, to("last_words"))) == "bye");
  }

  TEST_CASE("who answers what the server asks is asked, and the call goes on") {
    Connected server(fixture("stateless"), false, answering());
    CHECK(text_of(ended(server, to("input_required")))
              .starts_with(R"({"got":{"who":{"action":"accept","content":{"name":"Jo"}}},)"));
  }

  TEST_CASE("one can be taken back while its server's question is open") {
    Connected server(fixture("stateless"), false, answering());
    bool asked = false;
    auto call = to("input_required");
    call.events.answer = [&](std::string, Json) -> asio::awaitable<Result<Json>> {
      asked = true;
      asio::steady_timer never(server.loop, asio::steady_timer::time_point::max());
      std::ignore = co_await never.async_wait(asio::as_tuple(asio::use_awaitable));
      co_return fail(ErrorId::kServerCancelled, "nobody answers any more");
    };
    Call made(server, std::move(call));
    server.until([&] { return asked; });
    CHECK(made.times == 0);
    made.take_back();
    server.until([&] { return made.result.has_value(); });
    CHECK(id_of(*made.result) == ErrorId::kServerCancelled);
    CHECK(made.times == 1);
  }

  TEST_CASE("the callback of an ended call may make the next one, and may end the client") {
    Connected server(fixture("plain"));
    std::optional<Result<Json>> second;
    std::optional<Result<Json>> third;
    (*server).start_call(to("echo"),
                         [&](const Result<Json>& first) {
                           CHECK(first.has_value());
                           (*server).start_call(
                               to("echo"),
                               [&](Result<Json> given) {
                                 second = std::move(given);
                                 (*server).start_call(
                                     to("hang"),
                                     [&](Result<Json> last) { third = std::move(last); }, {});
                                 server.client = nullptr;
                               },
                               {});
                         },
                         {});
    server.until([&] { return third.has_value(); });
    REQUIRE(second.has_value());
    CHECK(second->has_value());
    CHECK(id_of(*third) == ErrorId::kServerDied);
  }

  TEST_CASE("when the client goes, those that have no answer yet are told so") {
    Connected server(fixture("plain"));
    Call one(server, to("hang"));
    Call other(server, to("slow", args(R"({"ms":10})")));
    server.client = nullptr;
    CHECK(one.times + other.times == 0);
    server.until([&] { return one.result && other.result; });
    CHECK(id_of(*one.result) == ErrorId::kServerDied);
    CHECK(id_of(*other.result) == ErrorId::kServerDied);
  }
}
