// Clients of mcpac serve, recorded before real servers and played without them.
#include <doctest/doctest.h>

#include <filesystem>

#include "gateway/support_serving.h"

using namespace mcpac;
using namespace mcpac::gateway::testing;
using e2e::has;
using e2e::Workspace;

namespace {

struct Recorded {
  Workspace workspace{Workspace::fixture("plain")};
  Recorded() { REQUIRE(workspace.mcpac({"generate"}).exit_code == 0); }

  // A client that makes these calls one after another at once, and goes.
  e2e::Outcome session(std::vector<std::string> words,
                       const std::vector<std::pair<std::string, Json>>& calls,
                       std::vector<std::string> environment = {}) const {
    std::string input;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const Json meta{{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                      {"io.modelcontextprotocol/clientInfo", {{"name", "c"}, {"version", "1"}}},
                      {"io.modelcontextprotocol/clientCapabilities", Json::object()},
                      {"progressToken", i}};
      const Json request{
          {"jsonrpc", "2.0"},
          {"id", i},
          {"method", "tools/call"},
          {"params", {{"name", calls[i].first}, {"arguments", calls[i].second}, {"_meta", meta}}}};
      input += request.dump() + "\n";
    }
    words.insert(words.end(), {"--grant", "fixture.*"});
    return workspace.mcpac(words, {.input = input, .environment = std::move(environment)});
  }
};

// Answers by their ids: which of two calls is answered first is nobody's promise.
Json answers(const e2e::Outcome& outcome) {
  Json all = Json::object();
  for (std::size_t at = 0; at < outcome.out.size();) {
    const auto end = outcome.out.find('\n', at);
    const Json line = parse_json(outcome.out.substr(at, end - at)).value();
    if (line.contains("id"))
      all[to_text(line["id"])] = line.value("result", line.value("error", Json()));
    at = end + 1;
  }
  return all;
}

const std::vector<std::pair<std::string, Json>> kCalls{{"fixture.echo", {{"apple", "one"}}},
                                                       {"fixture.add", {{"a", 1}, {"b", 2}}},
                                                       {"fixture.fail", Json::object()},
                                                       {"fixture.rpc_error", Json::object()}};

const std::vector<std::string> kNoNode{"PATH=/usr/sbin:/sbin"};

}  // namespace

TEST_SUITE("gateway/recording") {
  TEST_CASE("a recorded session is served again without a server: the same answers") {
    const Recorded here;
    const auto first = here.session({"serve", "--record", "s.rec"}, kCalls);
    INFO(first.err);
    REQUIRE(first.exit_code == 0);
    CHECK(answers(first).size() == 4);
    const auto again = here.session({"replay", "s.rec"}, kCalls, kNoNode);
    INFO(again.err);
    CHECK(again.exit_code == 0);
    CHECK(answers(again) == answers(first));
    const auto other = here.session({"replay", "s.rec"},
                                    {{"fixture.echo", {{"apple", "two"}}}, kCalls[1]}, kNoNode);
    CHECK(other.exit_code == 77);
    CHECK(has(other.err, "/apple is \"two\", recorded \"one\""));
    CHECK(has(other.err, "was not made"));
    CHECK_FALSE(has(other.out, "recorded \"one\""));  // is for the user, not for the client
  }

  TEST_CASE("who made a recording does not matter: a program plays what a client recorded") {
    const Recorded here;
    REQUIRE(here.session({"serve", "--record", "s.rec"}, {kCalls[1]}).exit_code == 0);
    const auto run = here.workspace.mcpac(
        {"execute", "-c",
         "#include <mcpac.hpp>\n#include <cstdio>\n"
         "int agent_main(mcpac::Requires<mcp::fixture::add> rt) {\n"
         "  std::puts(rt.fixture.add({.a = 1, .b = 2}).text().c_str());\n  return 0;\n}\n",
         "--grant", "fixture.add", "--replay", "s.rec"},
        {.environment = kNoNode});
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.out == "3\n");
  }

  TEST_CASE("where a recording is played, a program of a client makes no connection") {
    const Recorded here;
    const Json source(R"(#include <mcpac.hpp>
#include <cstdio>
int agent_main(mcpac::Requires<mcpac::network> rt) {
  const auto made = rt.network.try_connect_plain("127.0.0.1", 9);
  std::puts(made ? "connected" : made.error().what());
  return 0;
}
)");
    const std::vector<std::pair<std::string, Json>> calls{{"execute_agent", {{"source", source}}}};
    const std::vector<std::string> network{"--code", "--network", "127.0.0.1:9"};
    const auto with = [&](std::vector<std::string> words) {
      words.insert(words.end(), network.begin(), network.end());
      return here.session(std::move(words), calls);
    };
    const auto stdout_of = [](const e2e::Outcome& outcome) {
      INFO(outcome.out, outcome.err);
      return answers(outcome).at("0").at("structuredContent").at("stdout").get<std::string>();
    };
    const auto live = with({"serve", "--record", "n.rec"});
    CHECK_FALSE(has(stdout_of(live), "there is no network here"));  // nobody listens there
    const auto again = with({"replay", "n.rec"});
    CHECK(has(stdout_of(again), "where a recording is played, no connection is made"));
    CHECK(again.exit_code == 0);
    for (const Json& started : events(here.workspace, "RunStarted")) {
      const auto decided = here.workspace.mcpac({"audit", "replay", started.at("run_id")});
      INFO(decided.out, decided.err);
      CHECK(decided.exit_code == 0);
    }
  }

  TEST_CASE("policy holds at replay, and progress comes again") {
    const Recorded here;
    const std::vector<std::pair<std::string, Json>> calls{
        {"fixture.progress", {{"ms", 40}, {"every", 20}}}};
    const auto first = here.session({"serve", "--record", "p.rec"}, calls);
    CHECK(has(first.out, "notifications/progress"));
    const auto again = here.session({"replay", "p.rec"}, calls, kNoNode);
    INFO(again.err);
    CHECK(again.exit_code == 0);
    CHECK(again.out == first.out);
    const auto denied =
        here.session({"replay", "p.rec", "--deny", "fixture.progress"}, calls, kNoNode);
    CHECK(denied.exit_code == 77);
    CHECK_FALSE(has(denied.out, "arrived"));
    CHECK(has(denied.err, "was not made"));
  }
}
