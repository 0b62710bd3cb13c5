// The client against real processes: tests/servers/fixture.mjs and servers from the npm registry.
#include <doctest/doctest.h>
#include <signal.h>

#include <cstdlib>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "core/file.h"
#include "mcp/support.h"

using namespace mcpac;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using test::fixture;
using test::text_of;

namespace {

constexpr std::chrono::milliseconds kPatience = 300s;

// One connected client on a loop of its own.
struct Connected {
  asio::io_context loop;
  std::vector<std::string> stderr_lines;
  int changes = 0;
  Result<std::unique_ptr<mcp::Client>> client;

  explicit Connected(mcp::ServerConfig config, bool watch_changes = false, mcp::Events events = {})
      : client(nullptr) {
    events.server_stderr = [this](std::string_view line) { stderr_lines.emplace_back(line); };
    if (watch_changes) events.tools_changed = [this] { ++changes; };
    client = test::run(loop, mcp::Client::connect(loop.get_executor(), std::move(config), events));
  }
  ~Connected() {
    if (client && *client) test::run(loop, (*client)->close());
    client = nullptr;
    CHECK(test::children().empty());
  }
  Connected(const Connected&) = delete;
  Connected& operator=(const Connected&) = delete;

  mcp::Client& operator*() { return **client; }
  Result<Json> call(std::string tool, Json arguments = Json::object(),
                    std::chrono::milliseconds timeout = kPatience) {
    return test::run(loop, (*client)->call_tool(std::move(tool), std::move(arguments), timeout));
  }
  Result<ServerListing> list() { return test::run(loop, (*client)->list_tools()); }
  // Lets the loop work until `ready` or nothing is left to wait for.
  template <class Ready>
  void until(Ready ready) {
    loop.restart();
    while (!ready() && loop.run_one() > 0) {
    }
  }
};

ErrorId id_of(const Result<Json>& result) {
  REQUIRE_FALSE(result.has_value());
  return result.error().id;
}

Json args(std::string_view text) {
  return *parse_json(text);
}

asio::awaitable<Result<Json>> answered_with(std::string action) {
  Json result = Json::object();
  result["action"] = std::move(action);
  co_return result;
}

asio::awaitable<Result<Json>> decline() {
  return answered_with("decline");
}

// Accepts whatever form comes.
mcp::Events answering() {
  mcp::Events events;
  events.capabilities["elicitation"]["form"] = Json::object();
  events.answer = [](std::string, Json) { return answered_with("accept"); };
  return events;
}

}  // namespace

TEST_SUITE("mcp/stdio") {
  TEST_CASE("a server of the initialize era is found by the probe, listed and called") {
    Connected server(fixture("plain"));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    CHECK((*server).protocol_version() == "2025-11-25");
    auto listing = server.list();
    REQUIRE_MESSAGE(listing.has_value(), test::shown(listing));
    CHECK(listing->implementation == "fixture 1.2.3");
    CHECK(listing->tools.size() == 16);
    CHECK(text_of(server.call("add", args(R"({"a":2,"b":40})"))) == "42");
  }

  TEST_CASE("definitions keep the order of their members") {
    Connected server(fixture("plain"));
    auto listing = server.list();
    REQUIRE(listing.has_value());
    const auto text = to_text(listing->tools[0].definition);
    CHECK(text.find("\"name\"") < text.find("\"description\""));
    CHECK(text.find("zebra") < text.find("apple"));
  }

  TEST_CASE("a stateless server is spoken to in revision 2026-07-28") {
    Connected server(fixture("stateless"));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    CHECK((*server).protocol_version() == "2026-07-28");
    auto listing = server.list();
    REQUIRE_MESSAGE(listing.has_value(), test::shown(listing));
    CHECK(listing->implementation == "fixture 1.2.3");
    CHECK(text_of(server.call("add", args(R"({"a":1,"b":2})"))) == "3");
  }

  TEST_CASE("a server of both eras is spoken to in the newer one, unless the user pins the older") {
    {
      Connected server(fixture("both"));
      CHECK((*server).protocol_version() == "2026-07-28");
    }
    auto config = fixture("plain");
    config.era = mcp::Era::kInitialize;
    Connected pinned(config);
    CHECK((*pinned).protocol_version() == "2025-11-25");
  }

  TEST_CASE("a server pinned to 2026-07-28 that does not speak it is refused") {
    auto config = fixture("plain");
    config.era = mcp::Era::kStateless;
    Connected server(config);
    REQUIRE_FALSE(server.client.has_value());
    CHECK(server.client.error().id == ErrorId::kServerError);
  }

  TEST_CASE("a server that ends on the probe is started again and initialized") {
    Connected server(fixture("exits-on-probe"));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    CHECK(text_of(server.call("add", args(R"({"a":1,"b":1})"))) == "2");
  }

  TEST_CASE("a server that is silent on the probe is initialized after a while") {
    auto config = fixture("silent");
    config.probe_timeout = 50ms;
    Connected server(config);
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    CHECK((*server).protocol_version() == "2025-11-25");
  }

  TEST_CASE("a stateless server that starts slower than the probe waits is still understood") {
    auto config = fixture("stateless");
    config.probe_timeout = 1ms;  // node needs far longer to start
    Connected server(config);
    // Its answer to the first question comes within another millisecond of the refusal of the
    // second, because both stand in one pipe in that order.
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    CHECK((*server).protocol_version() == "2026-07-28");
  }

  TEST_CASE("every revision of the initialize era is accepted, another is refused") {
    for (const std::string version : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
      Connected server(fixture("plain", {version}));
      REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
      CHECK((*server).protocol_version() == version);
    }
    Connected server(fixture("bad-version"));
    REQUIRE_FALSE(server.client.has_value());
    CHECK(server.client.error().id == ErrorId::kServerProtocol);
    CHECK(server.client.error().what.find("1999-01-01") != std::string::npos);
  }

  TEST_CASE("all pages of tools/list are read") {
    Connected server(fixture("paging"));
    auto listing = server.list();
    REQUIRE_MESSAGE(listing.has_value(), test::shown(listing));
    CHECK(listing->tools.size() == 16);
  }

  TEST_CASE("a listing that does not end, goes in circles or names a tool twice is an error") {
    for (const std::string mode : {"endless-pages", "circle", "same-names"}) {
      Connected server(fixture(mode));
      auto listing = server.list();
      REQUIRE_FALSE(listing.has_value());
      CHECK(listing.error().id ==
            (mode == "endless-pages" ? ErrorId::kServerLimit : ErrorId::kServerProtocol));
    }
  }

  TEST_CASE("a tool whose name means another thing in rules is left out, and said so") {
    std::vector<std::string> warnings;
    mcp::Events events;
    events.warned = [&](std::string_view text) { warnings.emplace_back(text); };
    Connected server(fixture("reserved-names"), false, events);
    auto listing = server.list();
    REQUIRE_MESSAGE(listing.has_value(), test::shown(listing));
    REQUIRE(listing->tools.size() == 1);
    CHECK(listing->tools[0].name == "echo");
    REQUIRE(warnings.size() == 2);
    CHECK(warnings[0].contains(R"(the tool "resources/read" is left out)"));
  }

  TEST_CASE("a server without tools has an empty listing") {
    Connected server(fixture("no-tools"));
    auto listing = server.list();
    REQUIRE_MESSAGE(listing.has_value(), test::shown(listing));
    CHECK(listing->tools.empty());
  }

  TEST_CASE("lines on stdout that are no messages are skipped") {
    Connected server(fixture("junk"));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    CHECK(text_of(server.call("add", args(R"({"a":1,"b":1})"))) == "2");
  }

  TEST_CASE("a server that floods stdout with junk is given up") {
    Connected server(fixture("flood"));
    if (!server.client) {
      CHECK(server.client.error().id == ErrorId::kServerProtocol);
    } else {
      CHECK(id_of(server.call("hang")) == ErrorId::kServerProtocol);
    }
  }

  TEST_CASE("a line over the limit ends the connection") {
    Connected server(fixture("long-line"));
    REQUIRE_FALSE(server.client.has_value());
    CHECK(server.client.error().id == ErrorId::kServerLimit);
  }

  TEST_CASE("a result of ten mebibytes comes through whole") {
    Connected server(fixture("plain"));
    CHECK(text_of(server.call("big", args(R"({"bytes":10485760})"))).size() == 10485760);
  }

  TEST_CASE("answers come in any order") {
    Connected server(fixture("plain"));
    std::vector<std::string> order;
    int left = 3;
    for (const auto* ms : {"2000", "1000", "1"}) {
      asio::co_spawn(
          server.loop,
          [&, ms]() -> asio::awaitable<void> {
            Json arguments = args(R"({"ms":)" + std::string(ms) + "}");
            auto result = co_await (*server).call_tool("slow", std::move(arguments), kPatience);
            CHECK(text_of(result) == "slept");
            order.emplace_back(ms);
            --left;
          },
          asio::detached);
    }
    server.until([&] { return left == 0; });
    CHECK(order == std::vector<std::string>{"1", "1000", "2000"});
  }

  TEST_CASE("a result with isError is a result") {
    Connected server(fixture("plain"));
    auto result = server.call("fail");
    REQUIRE(result.has_value());
    CHECK((*result)["isError"] == true);
    CHECK(text_of(result) == "the tool says no");
  }

  TEST_CASE("a JSON-RPC error says its code and message, without control characters") {
    Connected server(fixture("plain"));
    auto result = server.call("rpc_error");
    CHECK(id_of(result) == ErrorId::kServerError);
    CHECK(result.error().what.find("-32602: bad red arguments") != std::string::npos);
    CHECK(result.error().what.find('\x1b') == std::string::npos);
    CHECK(result.error().why == R"({"field":"a"})");
  }

  TEST_CASE("a malformed response fails its request and no other") {
    Connected server(fixture("plain"));
    CHECK(id_of(server.call("malformed")) == ErrorId::kServerProtocol);
    CHECK(text_of(server.call("add", args(R"({"a":1,"b":1})"))) == "2");
  }

  TEST_CASE("an answer that is no JSON fails its request at once, with the reason") {
    Connected server(fixture("unreadable"));
    const auto result = server.call("malformed");
    REQUIRE(id_of(result) == ErrorId::kServerProtocol);
    CHECK(result.error().what.find("cannot be read") != std::string::npos);
    CHECK(text_of(server.call("add", args(R"({"a":1,"b":1})"))) == "2");
  }

  TEST_CASE("a result that asks for input is an error that says so") {
    Connected server(fixture("stateless"));
    auto result = server.call("input_required");
    CHECK(id_of(result) == ErrorId::kServerError);
    CHECK(result.error().what.find("asks for input") != std::string::npos);
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
    const auto ask_as = [&](const int& client) {
      mcp::CallEvents events;
      events.answer = [](std::string, Json) { return answered_with("accept"); };
      events.client = &client;
      return text_of(test::run(
          server.loop, (*server).call_tool("ask", args(R"({"method":"elicitation/create"})"),
                                           kPatience, events)));
    };
    const int one = 1;
    const int other = 2;
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
    const auto call_as = [&](const int& client) {
      mcp::CallEvents events;
      events.answer = [](std::string, Json) { return decline(); };
      events.logged = [&](const Json& message) { heard.push_back(string_member(message, "data")); };
      events.client = &client;
      return test::run(server.loop,
                       (*server).call_tool("log", args(R"({"data": "x"})"), kPatience, events));
    };
    const int one = 1;
    const int other = 2;
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

  TEST_CASE("a server that dies in a call fails it with exit status and last words") {
    Connected server(fixture("plain"));
    auto result = server.call("die", args(R"({"status":5,"say":"disk on fire"})"));
    CHECK(id_of(result) == ErrorId::kServerDied);
    CHECK(result.error().what.find("exit status 5") != std::string::npos);
    CHECK(result.error().why.find("disk on fire") != std::string::npos);
    CHECK(id_of(server.call("echo")) == ErrorId::kServerDied);
  }

  TEST_CASE("an answer written right before the end still counts") {
    Connected server(fixture("plain"));
    CHECK(text_of(server.call("last_words")) == "bye");
  }

  TEST_CASE("a server that always exits is an error with what it said") {
    Connected server(fixture("always-exits"));
    REQUIRE_FALSE(server.client.has_value());
    CHECK(server.client.error().id == ErrorId::kServerDied);
    CHECK(server.client.error().what.find("exit status 7") != std::string::npos);
    CHECK(server.client.error().why.find("cannot find my database") != std::string::npos);
  }

  TEST_CASE("a program that does not exist is an error that names it") {
    auto config = fixture("plain");
    config.command = "no-such-program-here";
    Connected missing(config);
    REQUIRE_FALSE(missing.client.has_value());
    CHECK(missing.client.error().id == ErrorId::kServerStart);
    CHECK(missing.client.error().what.find("no-such-program-here") != std::string::npos);
    config.command = "/etc/hostname";
    Connected no_program(config);
    REQUIRE_FALSE(no_program.client.has_value());
    CHECK(no_program.client.error().id == ErrorId::kServerStart);
    config = fixture("plain");
    config.working_directory = "/no/such/folder";
    Connected no_folder(config);
    REQUIRE_FALSE(no_folder.client.has_value());
    CHECK(no_folder.client.error().id == ErrorId::kServerStart);
  }

  TEST_CASE("servers that ignore the end of input, or SIGTERM as well, are ended nevertheless") {
    for (const std::string mode : {"ignores-eof", "ignores-term"}) {
      auto config = fixture(mode);
      config.shutdown_grace = 100ms;
      Connected server(config);
      REQUIRE(server.client.has_value());
      REQUIRE(test::children().size() == 1);
      test::run(server.loop, (*server).close());
      CHECK(test::children().empty());
      test::run(server.loop, (*server).close());  // idempotent
    }
  }

  TEST_CASE("what a server started is ended with it") {
    int grandchild = 0;
    {
      Connected server(fixture("grandchild"));
      REQUIRE(server.client.has_value());
      server.until([&] {
        for (const auto& line : server.stderr_lines) {
          if (line.starts_with("grandchild ")) grandchild = std::stoi(line.substr(11));
        }
        return grandchild != 0;
      });
      REQUIRE(test::is_running(grandchild));
    }
    CHECK(test::ends(grandchild));
  }

  TEST_CASE("dropping the client kills and reaps the server") {
    Connected server(fixture("ignores-term"));
    REQUIRE(test::children().size() == 1);
    server.client = nullptr;
    CHECK(test::children().empty());
  }

  TEST_CASE("dropping the client in the middle of a call ends the call") {
    Connected server(fixture("plain"));
    std::optional<Result<Json>> result;
    asio::co_spawn(
        server.loop,
        [&]() -> asio::awaitable<void> {
          result = co_await (*server).call_tool("hang", Json::object(), kPatience);
        },
        asio::detached);
    asio::steady_timer timer(server.loop, 20ms);
    timer.async_wait([&](auto) { server.client = nullptr; });
    server.until([&] { return result.has_value(); });
    CHECK(id_of(*result) == ErrorId::kServerDied);
  }

  TEST_CASE("a server gets the few variables that any program needs, and what its entry names") {
    ::setenv("MCPAC_TEST_PRIVATE", "not for servers", 1);
    auto config = fixture("plain");
    config.environment = {{"GIVEN", "yes"}};
    Connected server(config);
    auto seen = parse_json(text_of(server.call("env")));
    REQUIRE(seen.has_value());
    CHECK((*seen)["GIVEN"] == "yes");
    CHECK(seen->contains("PATH"));
    CHECK_FALSE(seen->contains("MCPAC_TEST_PRIVATE"));
  }

  TEST_CASE("a secret reaches the server and comes back as its reference only") {
    ::setenv("MCPAC_TEST_TOKEN", "s3cr3t-t0ken", 1);
    auto config = fixture("plain");
    config.environment = {{"TOKEN", "${env:MCPAC_TEST_TOKEN}"}, {"LENGTH", "12"}};
    Connected server(config);
    CHECK(text_of(server.call("env", args(R"({"name":"TOKEN"})"))) == "${env:MCPAC_TEST_TOKEN}");
    auto died = server.call("die", args(R"({"status":1,"say":"token s3cr3t-t0ken refused"})"));
    CHECK(id_of(died) == ErrorId::kServerDied);
    CHECK(died.error().why.find("token ${env:MCPAC_TEST_TOKEN} refused") != std::string::npos);
    for (const auto& line : server.stderr_lines) CHECK(line.find("s3cr3t") == std::string::npos);
  }

  TEST_CASE("a missing secret is an error before anything starts") {
    auto config = fixture("plain");
    config.environment = {{"TOKEN", "${env:MCPAC_TEST_NOT_SET}"}};
    Connected server(config);
    REQUIRE_FALSE(server.client.has_value());
    CHECK(server.client.error().id == ErrorId::kSecretMissing);
  }

  TEST_CASE("a server inherits no descriptor of ours") {
    asio::io_context loop;
    const int leaked = ::dup(0);  // without close-on-exec, as a careless library would open it
    auto config = fixture("plain");
    config.command = "sh";
    config.arguments = {"-c", "ls /proc/self/fd | tr '\\n' ' ' >&2"};
    std::string seen;
    mcp::Events events;
    events.server_stderr = [&seen](std::string_view line) { seen = line; };
    auto client = test::run(loop, mcp::Client::connect(loop.get_executor(), config, events));
    ::close(leaked);
    CHECK_FALSE(client.has_value());
    CHECK(seen == "0 1 2 3");  // 3 is the folder that ls reads
  }
}
