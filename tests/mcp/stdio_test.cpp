// The client against real processes: which era they are of, what they list, and what comes through.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "core/file.h"
#include "mcp/support_connected.h"

using namespace mcpac;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using test::args;
using test::Connected;
using test::fixture;
using test::id_of;
using test::kPatience;
using test::shown;
using test::text_of;

namespace {

// A long call of one of several clients, and how it ended.
struct Calling {
  Calling(Connected& server, const std::string& client, std::size_t bytes,
          const std::string& tool = "echo") {
    mcp::ToolCall call{
        .tool = tool, .arguments = {{"apple", std::string(bytes, 'x')}}, .timeout = kPatience};
    call.events.client = client;
    (*server).start_call(
        std::move(call), [this](Result<Json> given) { result = std::move(given); }, signal.slot());
  }
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;

  asio::cancellation_signal signal;
  std::optional<Result<Json>> result;
};

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

  TEST_CASE("a server that ends each subscription is asked again with growing pauses") {
    Connected server(fixture("no-listen"), true);
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    REQUIRE(server.list().has_value());
    const std::string asked = text_of(server.call("slow", args(R"({"ms":500})")));
    CHECK_MESSAGE((asked.size() == 1 && asked >= "1"), asked);
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

  TEST_CASE("what the probe cost is remembered of an entry, until that or its server is another") {
    const auto folder =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-found");
    REQUIRE(folder.has_value());
    auto config = fixture("plain");
    config.environment = {{"FIXTURE_MODE", "${env:MCPAC_TEST_MODE}"}};
    config.probe_timeout = 50ms;
    config.found = folder->path() / "servers";
    const auto asked = [&](const std::string& mode, const std::string& version) {
      ::setenv("MCPAC_TEST_MODE", mode.c_str(), 1);
      Connected server(config);
      REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
      CHECK((*server).protocol_version() == version);
      CHECK(text_of(server.call("add", args(R"({"a":1,"b":1})"))) == "2");
      server.end();
      return std::ranges::count(server.stderr_lines, "asked server/discover");
    };
    for (const std::string mode : {"silent", "exits-on-probe", "stuck-on-probe"}) {
      CAPTURE(mode);
      config.environment["ENTRY"] = mode;  // another one
      CHECK(asked(mode, "2025-11-25") == 1);
      CHECK(asked(mode, "2025-11-25") == 0);
    }
    CHECK(asked("stateless", "2026-07-28") == 1);  // it refuses what was remembered
    config.environment["ENTRY"] = "plain";
    CHECK(asked("plain", "2025-11-25") == 1);
    CHECK(asked("plain", "2025-11-25") == 1);  // the question costs nothing
  }

  TEST_CASE("a server that answers nothing is told with its words, the era and its first noise") {
    auto config = fixture("mute");
    config.probe_timeout = 100ms;
    config.timeout = 400ms;
    Connected server(config);
    REQUIRE_FALSE(server.client.has_value());
    const Error& error = server.client.error();
    CHECK(error.id == ErrorId::kServerTimeout);
    CHECK(error.fix.contains(R"("era")"));
    CHECK(error.why.contains("it last wrote:\n    fixture mute ready"));
    CHECK(error.why.ends_with("where only messages belong it wrote: Listening on port 8080"));
  }

  TEST_CASE("a start that is alive is let go on beyond the time of an answer, and told") {
    auto config = fixture("plain");
    config.arguments = {"-c", "echo fetching it >&2; sleep 1.5; exec node " + config.arguments[0]};
    config.command = "sh";
    config.probe_timeout = 50ms;
    config.timeout = 1s;
    config.slow_start = 200ms;
    std::vector<std::string> told;
    mcp::Events events;
    events.starts_slowly = [&](std::string_view text) { told.emplace_back(text); };
    Connected server(config, false, events);
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    CHECK(text_of(server.call("add", args(R"({"a":1,"b":1})"))) == "2");
    REQUIRE_FALSE(told.empty());
    CHECK(told.front().ends_with("it last wrote:\n    fetching it"));
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

  TEST_CASE("a listing that does not end or goes in circles is an error") {
    for (const std::string mode : {"endless-pages", "circle"}) {
      Connected server(fixture(mode));
      auto listing = server.list();
      REQUIRE_FALSE(listing.has_value());
      CHECK(listing.error().id ==
            (mode == "endless-pages" ? ErrorId::kServerLimit : ErrorId::kServerProtocol));
    }
  }

  TEST_CASE("a list has one time for all of its pages") {
    auto config = fixture("slow-pages");  // each at once, and never the last
    config.timeout = 2'000ms;
    Connected server(config);
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    auto listing = server.list();
    REQUIRE_FALSE(listing.has_value());
    CHECK(listing.error().id == ErrorId::kServerTimeout);
    CHECK(listing.error().what == "server fixture did not list its tools within 2000 ms");
    CHECK(listing.error().fix.find("\"timeout\"") != std::string::npos);
  }

  TEST_CASE("progress is asked for where a server works, and not of lists") {
    Connected server(fixture("plain"));
    REQUIRE_MESSAGE(server.client.has_value(), test::shown(server.client));
    mcp::CallEvents events;
    events.meta = args(R"({"progressToken":"mine","other":1})");
    const auto list =
        test::run(server.loop, (*server).request("things/list", Json::object(), kPatience, events));
    REQUIRE(list.has_value());
    CHECK((**list)["asked"] == args(R"({"other":1})"));
    const auto call = parse_json(text_of(server.call("log")));
    REQUIRE(call.has_value());
    CHECK((*call)["progressToken"].is_number_integer());
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

  TEST_CASE("the first line that was skipped is told once, where something goes wrong then") {
    Connected server(fixture("junk"));
    CHECK(text_of(server.call("add", args(R"({"a":1,"b":1})"))) == "2");
    const auto first = server.call("hang", Json::object(), 20ms);
    CHECK(first.error().why == "where only messages belong it wrote: Welcome to the server!");
    const auto second = server.call("hang", Json::object(), 20ms);
    CHECK(second.error().why.empty());
  }

  TEST_CASE("a server that floods stdout with junk is given up") {
    Connected server(fixture("flood"));
    if (!server.client) {
      CHECK(server.client.error().id == ErrorId::kServerProtocol);
    } else {
      CHECK(id_of(server.call("hang")) == ErrorId::kServerProtocol);
    }
  }

  TEST_CASE("a server that asks on and reads no answers is given up") {
    Connected server(fixture("plain"));
    CHECK(text_of(server.call("ask_on", args(R"({"times":100})"))) == "asked");
    const auto flooded = server.call("ask_on", args(R"({"times":20000,"deaf":true})"));
    // The answer to the call stands behind the questions.
    CHECK(id_of(flooded) == ErrorId::kServerLimit);
    CHECK(flooded.error().what.find("does not take the answers") != std::string::npos);
  }

  TEST_CASE(
      "what is taken back before a server reads it leaves the queue to it, and it hears of none") {
    Connected server(fixture("plain"));
    CHECK(text_of(server.call("deaf", args(R"({"ms":2000})"))) == "deaf");
    constexpr std::size_t kMuch = std::size_t{15} << 20U;
    std::vector<std::unique_ptr<Calling>> calls;
    for (int i = 0; i < 4; ++i)
      calls.push_back(std::make_unique<Calling>(server, "", kMuch, "hang"));
    const Calling full(server, "b", 5 << 20);
    server.until([&] { return full.result.has_value(); });
    CHECK(id_of(*full.result) == ErrorId::kServerLimit);
    for (const auto& call : calls) call->signal.emit(asio::cancellation_type::terminal);
    const Calling other(server, "b", 5 << 20);
    server.until([&] { return other.result.has_value(); });
    CHECK_MESSAGE(other.result->has_value(), shown(*other.result));
    for (const auto& call : calls) CHECK(id_of(*call->result) == ErrorId::kServerCancelled);
    // The first one had begun to go.
    CHECK(parse_json(text_of(server.call("cancelled")))->size() == 1);
  }

  TEST_CASE("a client that fills the queue to a server leaves room in it for others") {
    Connected server(fixture("plain"));
    CHECK(text_of(server.call("deaf", args(R"({"ms":2000})"))) == "deaf");
    std::vector<std::unique_ptr<Calling>> calls;
    for (int i = 0; i < 63; ++i) calls.push_back(std::make_unique<Calling>(server, "a", 1 << 20));
    const Calling other(server, "b", 1 << 20);
    const Calling third(server, "c", 1 << 20);
    server.until([&] { return other.result && third.result && calls.front()->result; });
    CHECK_MESSAGE(other.result->has_value(), shown(*other.result));
    CHECK_MESSAGE(third.result->has_value(), shown(*third.result));
    const auto refused = std::ranges::count_if(
        calls, [](const auto& call) { return call->result && !call->result->has_value(); });
    CHECK(refused > 25);
    CHECK(refused < 35);
    CHECK(shown(*calls.back()->result).contains("more of this client's calls waits"));
    // There is room again where the server has read.
    const Calling again(server, "a", 1 << 20);
    server.until([&] { return again.result.has_value(); });
    CHECK_MESSAGE(again.result->has_value(), shown(*again.result));
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

  TEST_CASE("an answer with a number beyond double is an answer: the tool has done its work") {
    Connected server(fixture("beyond"));
    const auto result = server.call("malformed");
    REQUIRE(result.has_value());
    CHECK(result->at("structuredContent") ==
          Json{{"n", std::numeric_limits<double>::max()}, {"text", "there"}});
  }

  TEST_CASE("an odd value in a list costs its tool alone, which is said by its name") {
    const auto folder = TemporaryFolder::create("/tmp", "mcpac-list");
    REQUIRE(folder.has_value());
    const auto file = folder->path() / "tools.json";
    // A number beyond double is the largest one; of the others nothing is certain.
    const std::string list =
        R"([{"name":"far","inputSchema":{"type":"object","properties":{"n":{"maximum":1e400}}}},)"
        R"({"name":"twice","inputSchema":{"type":"object","type":"string"}},)"
        R"({"name":"nan","inputSchema":{"type":"object","maxProperties":NaN}},)"
        R"({"name":"half","description":"\ud800","inputSchema":{"type":"object"}},)"
        R"({"name":"fine","inputSchema":{"type":"object"}}])";
    REQUIRE(write_file_atomic(file, to_text(Json{{"tools", Json::array()}, {"raw", list}})));
    auto config = fixture("scripted");
    config.arguments.push_back(file.string());
    std::vector<std::string> warnings;
    mcp::Events events;
    events.warned = [&](std::string_view text) { warnings.emplace_back(text); };
    Connected server(config, false, std::move(events));
    const auto listing = server.list();
    REQUIRE_MESSAGE(listing.has_value(), test::shown(listing));
    std::string names;
    for (const auto& tool : listing->tools) names += tool.name + ";";
    CHECK(names == "far;fine;");
    CHECK(listing->tools.front().definition["inputSchema"]["properties"]["n"]["maximum"] ==
          std::numeric_limits<double>::max());
    REQUIRE(warnings.size() == 3);
    CHECK(warnings[0].contains("the tool \"twice\" is left out: "));
    CHECK(warnings[0].ends_with("the member \"type\" stands twice in one object"));
    CHECK(warnings[1].contains("the tool \"nan\" is left out"));
    CHECK(warnings[2].contains("the tool \"half\" is left out"));
  }

  TEST_CASE("an answer that is no JSON fails its request at once, with the reason") {
    Connected server(fixture("unreadable"));
    const auto result = server.call("malformed");
    REQUIRE(id_of(result) == ErrorId::kServerProtocol);
    CHECK(result.error().what.find("cannot be read") != std::string::npos);
    CHECK(text_of(server.call("add", args(R"({"a":1,"b":1})"))) == "2");
  }

  TEST_CASE("what common libraries write for none, and an id as a text, are understood") {
    Connected server(fixture("plain"));
    const auto answered = [&](std::string line) {
      return server.call("malformed", {{"line", std::move(line)}});
    };
    for (const auto* line : {R"({"jsonrpc":"2.0","id":ID,"result":{"content":[]},"error":null})",
                             R"({"jsonrpc":"2.0","id":"ID","result":{"content":[]}})"}) {
      CAPTURE(line);
      CHECK(answered(line).has_value());
    }
    const auto failed = answered(
        R"({"jsonrpc":"2.0","id":"ID","result":null,"error":{"code":1,"message":"no more room"}})");
    REQUIRE(id_of(failed) == ErrorId::kServerError);
    CHECK(failed.error().what.contains("no more room"));
  }

  TEST_CASE("an answer that is no response fails its call at once, with its words") {
    Connected server(fixture("plain"));
    for (const auto* line :
         {R"([{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}])",
          R"({"jsonrpc":"2.0","id":ID,"error":"boom"})",
          R"({"jsonrpc":"2.0","id":ID,"error":{"code":"E1","message":"boom"}})"}) {
      CAPTURE(line);
      const auto result = server.call("malformed", {{"line", line}});
      REQUIRE(id_of(result) == ErrorId::kServerProtocol);
      CHECK(result.error().what.contains(line[0] == '[' ? "batches are not" : "boom"));
    }
  }

  TEST_CASE("a null for an empty list of a schema costs no tool") {
    Connected server(fixture("null-keywords"));
    auto listing = server.list();
    REQUIRE_MESSAGE(listing.has_value(), test::shown(listing));
    REQUIRE(listing->tools.size() == 1);
    CHECK(listing->tools[0].definition["inputSchema"].dump() ==
          R"({"type":"object","properties":{"required":{"type":"string","const":null},)"
          R"("list":{"type":"array","items":{}}},"anyOf":[{}]})");
  }
}
