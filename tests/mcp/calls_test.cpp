// What passes while a server works on a call: questions, logs, progress, cancellation.
#include <doctest/doctest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "mcp/support_connected.h"

using namespace mcpac;
using namespace mcpac::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

TEST_SUITE("mcp/calls") {
  TEST_CASE("a result that asks for input is an error that says so") {
    Connected server(fixture("stateless"));
    auto result = server.call("input_required");
    CHECK(id_of(result) == ErrorId::kServerError);
    CHECK(result.error().what.find("asks for input") != std::string::npos);
  }

  TEST_CASE(
      "a result of a type that is no text is an error, and one that is complete asks nothing") {
    for (const char* mode : {"plain", "stateless"}) {
      CAPTURE(mode);
      Connected server(fixture(mode), false, answering());
      for (const char* type : {R"(["input_required"])", "5", "null", "{}"}) {
        CAPTURE(type);
        const auto result = server.call(
            "result",
            args(std::string(R"({"content":[],"requestState":"s","resultType":)") + type + "}"));
        CHECK(id_of(result) == ErrorId::kServerProtocol);
      }
      const auto result =
          server.call("result", args(R"({"content":[],"resultType":"complete","requestState":"s",)"
                                     R"("inputRequests":{"q":{"method":"roots/list"}}})"));
      REQUIRE(result.has_value());
      CHECK(result->contains("content"));
      CHECK_FALSE(result->contains("inputRequests"));
      CHECK_FALSE(result->contains("requestState"));
    }
  }

  TEST_CASE("who answers is asked, in either era, and the state comes back as it was") {
    {
      Connected modern(fixture("stateless"), false, answering());
      CHECK(text_of(modern.call("input_required"))
                .starts_with(R"({"got":{"who":{"action":"accept","content":{"name":"Jo"}}},)"
                             R"("state":"{\"s\": 1 }",)"));
    }
    Connected older(fixture("plain"), false, answering());
    const auto reply = text_of(older.call("ask", args(R"({"method":"elicitation/create"})")));
    CHECK(reply.contains(R"("action":"accept")"));
    const auto other = text_of(older.call("ask", args(R"({"method":"sampling/createMessage"})")));
    CHECK(other.contains("-32601"));
  }

  TEST_CASE("the answer of one call is not that of another") {
    Connected server(fixture("stateless"), false, answering());
    mcp::CallEvents events;
    events.answer = [](std::string, Json) { return decline(); };
    const auto result = test::run(
        server.loop, (*server).call_tool("input_required", Json::object(), kPatience, events));
    CHECK(text_of(result).contains(R"("action":"decline")"));
    CHECK(text_of(server.call("input_required")).contains(R"("action":"accept")"));
  }

  TEST_CASE("once calls of two clients were carried, a question that names no call is nobody's") {
    mcp::Events usual = answering();
    usual.answer = [](std::string, Json) { return decline(); };
    Connected server(fixture("plain"), false, usual);
    const auto ask_as = [&](const std::string& client) {
      mcp::CallEvents events;
      events.answer = [](std::string, Json) { return answered_with("accept"); };
      events.client = client;
      return text_of(test::run(
          server.loop, (*server).call_tool("ask", args(R"({"method":"elicitation/create"})"),
                                           kPatience, events)));
    };
    const std::string one = "one";
    const std::string other = "other";
    CHECK(ask_as(one).contains(R"("action":"accept")"));
    CHECK(ask_as(one).contains(R"("action":"accept")"));
    CHECK(ask_as(other).contains(R"("action":"decline")"));
    CHECK(ask_as(one).contains(R"("action":"decline")"));  // it may be about the other's
  }

  TEST_CASE("a log message is the only client's call's, and nobody's once there were two clients") {
    std::vector<std::string> of_nobody;
    mcp::Events usual;
    usual.notified = [&](const std::string& method, const Json& params) {
      of_nobody.push_back(method + " " + string_member(params, "data"));
    };
    Connected server(fixture("plain"), false, usual);
    std::vector<std::string> heard;
    const auto call_as = [&](const std::string& client) {
      mcp::CallEvents events;
      events.answer = [](std::string, Json) { return decline(); };
      events.logged = [&](const Json& message) { heard.push_back(string_member(message, "data")); };
      events.client = client;
      return test::run(server.loop,
                       (*server).call_tool("log", args(R"({"data": "x"})"), kPatience, events));
    };
    const std::string one = "one";
    const std::string other = "other";
    REQUIRE(call_as(one).has_value());
    CHECK(heard == std::vector<std::string>{"x"});
    CHECK(of_nobody.empty());
    REQUIRE(call_as(other).has_value());
    REQUIRE(call_as(one).has_value());
    CHECK(heard.size() == 1);
    CHECK(of_nobody == std::vector<std::string>(2, "notifications/message x"));
  }

  TEST_CASE(
      "a stateless server hears with each call what its caller answers, and which logs it wants") {
    Connected server(fixture("stateless"), false, answering());
    mcp::CallEvents events;
    events.capabilities = args(R"({"roots": {}})");
    events.log_level = "notice";
    const auto said = text_of(test::run(
        server.loop, (*server).call_tool("log", args(R"({"data": "x"})"), kPatience, events)));
    CHECK(said.contains(R"("io.modelcontextprotocol/clientCapabilities":{"roots":{}})"));
    CHECK(said.contains(R"("io.modelcontextprotocol/logLevel":"notice")"));
    const auto usual = text_of(server.call("log", args(R"({"data": "x"})")));
    CHECK(usual.contains("elicitation"));
    CHECK_FALSE(usual.contains("logLevel"));
    // What it asks for all the same is asked of nobody.
    const auto asked = test::run(
        server.loop, (*server).call_tool("input_required", Json::object(), kPatience, events));
    CHECK(id_of(asked) == ErrorId::kServerError);
  }

  TEST_CASE(
      "what a caller says in _meta stands beside what the protocol says, and not in its place") {
    for (const auto* era : {"plain", "stateless"}) {
      CAPTURE(era);
      Connected server(fixture(era));
      mcp::CallEvents events;
      events.meta = args(R"({"traceparent": "of a trace", "progressToken": "not ours",)"
                         R"("io.modelcontextprotocol/protocolVersion": "1999-01-01"})");
      const auto said = text_of(test::run(
          server.loop, (*server).call_tool("log", args(R"({"data": "x"})"), kPatience, events)));
      CHECK(said.contains(R"("traceparent":"of a trace")"));
      CHECK_FALSE(said.contains("not ours"));
      if (era == std::string_view("stateless")) CHECK_FALSE(said.contains("1999"));
      CHECK_FALSE(text_of(server.call("log", args(R"({"data": "x"})"))).contains("traceparent"));
    }
  }

  TEST_CASE("all that a server asks at once can be answered at once") {
    Connected server(fixture("stateless"), false, answering());
    mcp::CallEvents events;
    std::vector<Json> asked;
    events.answer_all = [&](Json questions) -> asio::awaitable<Result<Json>> {
      asked.push_back(questions);
      Json answers = Json::object();
      answers["who"]["action"] = "accept";
      co_return answers;
    };
    const auto result = test::run(
        server.loop, (*server).call_tool("input_required", Json::object(), kPatience, events));
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].at("who").at("method") == "elicitation/create");
    CHECK(text_of(result).contains(R"("content":{"name":"Jo"})"));
  }

  TEST_CASE("the error of the protocol that ends a call is told to who made it") {
    Connected server(fixture("plain"));
    mcp::CallEvents events;
    std::optional<ipc::ErrorObject> refusal;
    events.refused = [&](const ipc::ErrorObject& error) { refusal = error; };
    const auto result =
        test::run(server.loop, (*server).call_tool("rpc_error", Json::object(), kPatience, events));
    CHECK(id_of(result) == ErrorId::kServerError);
    REQUIRE(refusal.has_value());
    CHECK(refusal->code == -32602);
    CHECK(refusal->data == args(R"({"field": "a"})"));
  }

  TEST_CASE("a call whose time is up is cancelled at the server") {
    Connected server(fixture("plain"));
    CHECK(id_of(server.call("hang", Json::object(), 50ms)) == ErrorId::kServerTimeout);
    auto seen = parse_json(text_of(server.call("cancelled")));
    REQUIRE(seen.has_value());
    REQUIRE(seen->size() == 1);
    CHECK((*seen)[0]["reason"] == "timed out");
  }

  TEST_CASE("cancelling the coroutine cancels the call at the server") {
    Connected server(fixture("plain"));
    asio::cancellation_signal signal;
    std::optional<Result<Json>> result;
    asio::co_spawn(
        server.loop,
        [&]() -> asio::awaitable<void> {
          result = co_await (*server).call_tool("hang", Json::object(), kPatience);
        },
        asio::bind_cancellation_slot(signal.slot(), asio::detached));
    asio::steady_timer timer(server.loop, 50ms);
    timer.async_wait([&](auto) { signal.emit(asio::cancellation_type::terminal); });
    server.until([&] { return result.has_value(); });
    CHECK(id_of(*result) == ErrorId::kServerCancelled);
    auto seen = parse_json(text_of(server.call("cancelled")));
    REQUIRE(seen->size() == 1);
    CHECK((*seen)[0]["reason"] == "cancelled");
  }

  TEST_CASE("progress of a call is told to who made it, without the token that we chose") {
    Connected server(fixture("plain"));
    std::vector<Json> heard;
    mcp::CallEvents events;
    events.heard = [&](const Json& report) { heard.push_back(report); };
    auto result = test::run(
        server.loop,
        (*server).call_tool("progress", args(R"({"ms":200,"every":50})"), kPatience, events));
    CHECK(text_of(result) == "arrived");
    REQUIRE(heard.size() > 1);
    CHECK(heard.front().at("total") == 200);
    CHECK_FALSE(heard.front().contains("progressToken"));
  }

  TEST_CASE("progress starts the timeout anew") {
    Connected server(fixture("plain"));
    // Twice as long as the timeout would be without it; reports come thirty times per timeout.
    auto result = server.call("progress", args(R"({"ms":6000,"every":100})"), 3000ms);
    CHECK(text_of(result) == "arrived");
  }

  TEST_CASE("a changed list of tools is announced, in both eras") {
    for (const std::string mode : {"plain", "stateless"}) {
      Connected server(fixture(mode), true);
      CHECK(text_of(server.call("change")) == "changed");
      CHECK(server.changes == 1);
    }
  }

  TEST_CASE("a ping from the server is answered, anything else it asks is declined") {
    Connected server(fixture("plain"));
    auto pong = parse_json(text_of(server.call("ask", args(R"({"method":"ping"})"))));
    REQUIRE(pong.has_value());
    CHECK((*pong)["result"] == Json::object());
    for (const std::string method :
         {"roots/list", "sampling/createMessage", "elicitation/create"}) {
      Json arguments = Json::object();
      arguments["method"] = method;
      auto declined = parse_json(text_of(server.call("ask", arguments)));
      REQUIRE(declined.has_value());
      CHECK((*declined)["error"]["code"] == -32601);
    }
  }
}
