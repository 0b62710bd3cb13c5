// mcpac serve as it is shipped, with real servers behind it and the official client before it.
#include <doctest/doctest.h>
#include <unistd.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/json.h"
#include "e2e/workspace.h"
#include "gateway/support_http.h"
#include "gateway/support_serving.h"
#include "gateway/support_session.h"
#include "places.h"

using namespace mcpac;
using namespace mcpac::gateway::testing;
using e2e::has;
using e2e::Workspace;

TEST_SUITE("gateway/serve") {
  TEST_CASE("the official client sees what it was granted, and calls it, over both doors") {
    const Workspace& workspace = Workspace::shared();
    const std::vector<std::string> options{
        "--grant", "filesystem.read_text_file(path within ./data, ..),everything.echo"};
    const Json calls =
        Json::array({made("filesystem.read_text_file", {{"path", "data/a.txt"}}),
                     made("everything.echo", {{"message", "hello"}}),
                     made("filesystem.read_text_file", {{"path", "/etc/passwd"}}),
                     made("filesystem.write_file", {{"path", "data/a.txt"}, {"content", "x"}}),
                     made("filesystem.no_such_tool", Json::object())});
    const Serving serving(workspace, options);
    const std::vector<Json> seen{
        served_over_stdio(workspace, options, calls),
        official_client(workspace, {"http", serving.url(), serving.token(), calls.dump()})};
    for (const Json& saw : seen) {
      CHECK(saw.at("server").at("name") == "mcpac");
      CHECK(saw.at("tools") == Json{"everything.echo", "filesystem.read_text_file"});
      const Json& results = saw.at("results");
      CHECK(text_in(results.at(0)) == "alpha\nbeta\n");
      CHECK(has(text_in(results.at(1)), "hello"));
      CHECK(results.at(2).at("isError") == true);
      CHECK(text_in(results.at(2)).starts_with("mcpac: permission denied: filesystem.read"));
      CHECK(results.at(3).at("thrown") == -32602);
      CHECK(results.at(4).at("thrown") == -32602);
    }
    CHECK(seen[0] == seen[1]);
  }

  TEST_CASE("an odd tool costs the official client no other, and what is odd is said") {
    const Workspace workspace(R"({"mcpServers": {"odd": {"command": "node", "args": [")" +
                              mcpac::testing::in_source("tests/servers/fixture.mjs") +
                              R"(", "scripted", "tools.json"]}}})");
    workspace.write("tools.json", R"({"tools": [
      {"name": "plain", "inputSchema": {"type": "object"}},
      {"name": "no_type", "inputSchema": {"properties": {"a": {"type": "string"}}}},
      {"name": "no_schema"},
      {"name": "nulls", "description": null, "title": null, "annotations": null,
       "outputSchema": null, "icons": null, "inputSchema": {"type": "object"}},
      {"name": "hints", "annotations": {"readOnlyHint": "yes"}, "inputSchema": {"type": "object"}},
      {"name": "or_null", "inputSchema": {"type": ["object", "null"]}},
      {"name": "list_out", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}},
      {"name": "any_member", "inputSchema": {"type": "object", "properties": {"x": true}}},
      {"name": "text_in", "inputSchema": {"type": "string"}},
      {"name": "behind", "inputSchema": {"type": "object", "properties":
        {"x": {"type": "string", "pattern": "(?<=a)b"}}}},
      {"name": "long", "inputSchema": {"type": "object", "properties":
        {"x": {"type": "string", "pattern": "^.{1,2000}$"},
         "query": {"type": "string", "default": {}}}}},
      {"name": "twice", "description": "one", "inputSchema": {"type": "object"}},
      {"name": "twice", "description": "other", "inputSchema": {"type": "object"}},
      {"description": "nameless"}, {"name": ""}, {"name": 7}, null]})");
    const auto generated = workspace.mcpac({"generate"});
    CHECK_MESSAGE(generated.exit_code == 0, generated.err);
    const std::string said = generated.out + generated.err;
    INFO(said);
    CHECK(has(said, "4 tools without a name are left out"));
    CHECK(has(said, "odd.twice stands twice in the listing; one is taken"));
    CHECK(has(said, "odd.behind /inputSchema: cannot be called: "));
    CHECK(has(said, "mcpac server set odd --server-checks behind lets its server alone check it"));
    CHECK_FALSE(has(said, "odd.long /inputSchema: cannot"));
    const std::vector<std::string> notes{
        R"(odd.no_type its inputSchema has no "type": "object", which clients are shown)",
        "odd.no_schema it has no inputSchema: it is shown, and called, without arguments",
        "odd.hints its annotations.readOnlyHint is of a type that no client takes",
        "odd.list_out its outputSchema is none of an object, so clients are not shown it",
        "odd.text_in its inputSchema is none of an object, so clients are not shown the tool",
        "has a default that its own schema refuses, which is not filled in: it must be a string"};
    for (const std::string& note : notes) CHECK(has(said, note));
    CHECK_FALSE(has(said, "odd.nulls"));
    const auto status = workspace.mcpac({"lock", "status"});
    INFO(status.out);
    CHECK(status.exit_code == 0);
    for (const std::string& note : notes) CHECK(has(status.out, note));
    const Json saw = served_over_stdio(
        workspace, {"--grant", "odd.*"},
        Json::array({made("odd.no_type", {{"a", "b"}}), made("odd.no_schema", Json::object()),
                     made("odd.nulls", Json::object()), made("odd.any_member", {{"x", 1}}),
                     made("odd.twice", Json::object()), made("odd.no_schema", {{"a", "b"}}),
                     made("odd.text_in", Json::object()), made("odd.long", {{"x", "long"}}),
                     made("odd.behind", {{"x", "ab"}})}));
    CHECK(saw.at("tools") == Json{"odd.any_member", "odd.behind", "odd.hints", "odd.list_out",
                                  "odd.long", "odd.no_schema", "odd.no_type", "odd.nulls",
                                  "odd.or_null", "odd.plain", "odd.twice"});
    for (std::size_t i = 0; i < 5; ++i) {
      INFO(saw.at("results").at(i).dump());
      CHECK_FALSE(saw["results"][i].value("isError", false));
      CHECK_FALSE(saw["results"][i].contains("thrown"));
    }
    CHECK(saw.at("results").at(5).at("isError") == true);
    CHECK(saw.at("results").at(6).at("thrown") == -32602);
    CHECK_FALSE(saw.at("results").at(7).value("isError", false));
    CHECK(saw.at("results").at(8).at("thrown") == -32602);
    // What cannot be checked is called where its server alone checks it, by the user's word.
    REQUIRE(workspace.mcpac({"server", "set", "odd", "--server-checks", "behind"}).exit_code == 0);
    CHECK(workspace.mcpac({"server", "set", "odd", "--server-checks", "behnd"}).exit_code == 64);
    const auto left = workspace.mcpac({"lock", "status"});
    CHECK(has(left.out, "is checked by its server alone"));
    const auto called = workspace.mcpac(
        {"tools", "call", "odd.behind", "--grant", "odd.behind", "--arguments", R"({"x": "ab"})"});
    CHECK_MESSAGE(called.exit_code == 0, called.err);
    CHECK(workspace.mcpac({"server", "set", "odd", "--no-server-checks", "behind"}).exit_code == 0);
    const auto refused = workspace.mcpac(
        {"tools", "call", "odd.behind", "--grant", "odd.behind", "--arguments", R"({"x": "ab"})"});
    CHECK(refused.exit_code != 0);
    CHECK(has(refused.err, "fix: mcpac server set odd --server-checks behind"));
  }

  TEST_CASE("names without dots, for clients that cannot take them") {
    const Json saw =
        served_over_stdio(Workspace::shared(), {"--grant", "everything.echo", "--names", "plain"},
                          Json::array({made("everything__echo", {{"message", "hello"}})}));
    CHECK(saw.at("tools") == Json{"everything__echo"});
    CHECK(has(text_in(saw.at("results").at(0)), "hello"));
  }

  TEST_CASE("progress of a real server reaches the client that made the call") {
    const Json saw =
        served_over_stdio(Workspace::shared_fixture(), {"--grant", "fixture.progress"},
                          Json::array({made("fixture.progress", {{"ms", 300}, {"every", 50}})}));
    CHECK(text_in(saw.at("results").at(0)) == "arrived");
    CHECK(saw.at("progress").size() > 1);
    CHECK(saw.at("progress").at(0).at("total") == 300);
  }

  TEST_CASE("what rules ask is asked of the person at the client; without a form it is denied") {
    const Workspace& workspace = Workspace::shared();
    const std::vector<std::string> options{"--ask", "everything.echo"};
    const Json calls = Json::array({made("everything.echo", {{"message", "one"}}),
                                    made("everything.echo", {{"message", "two"}})});
    const Json once = served_over_stdio(workspace, options, calls, "once");
    CHECK(once.at("asked").size() == 2);
    CHECK(has(std::string(once.at("asked").at(0)), R"(everything.echo {"message":"one"})"));
    CHECK(has(text_in(once.at("results").at(1)), "two"));
    const Json always = served_over_stdio(workspace, options, calls, "always");
    CHECK(always.at("asked").size() == 1);
    CHECK(has(text_in(always.at("results").at(1)), "two"));
    for (const std::string answer : {"no", "", "yes please"}) {
      const Json refused = served_over_stdio(workspace, options, calls, answer);
      CHECK(refused.at("results").at(0).at("isError") == true);
      CHECK(text_in(refused.at("results").at(0)).starts_with("mcpac: permission denied"));
    }
  }

  TEST_CASE(
      "what is amiss with servers is said to who runs them, and to clients without words of "
      "servers") {
    const std::string script = mcpac::testing::in_source("tests/servers/fixture.mjs");
    const auto entry = [&](const std::string& more) {
      return R"({"command": "node", "args": [")" + script + "\"" + more + "]}";
    };
    const auto config = [&](const std::string& mode) {
      return R"({"mcpServers": {"odd": )" + entry(R"(, "scripted", "tools.json")") +
             R"(, "other": )" + entry(", \"" + mode + "\"") + "}}";
    };
    const Workspace workspace(config("plain"));
    const auto write = [&](const std::string& turn, const std::string& more) {
      workspace.write("tools.json", R"({"tools": [{"name": "turn", "description": ")" + turn +
                                        R"(", "inputSchema": {"type": "object"}})" + more + "]}");
    };
    write("what was approved", "");
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    write("another one", R"(, {"name": "gained", "inputSchema": {"type": "object"}})");
    workspace.write("mcpac.json", config("both"));
    const std::string input = request(0, "initialize",
                                      {{"protocolVersion", "2025-11-25"},
                                       {"capabilities", Json::object()},
                                       {"clientInfo", {{"name", "a test"}, {"version", "1"}}}})
                                  .dump() +
                              "\n";
    const auto served = workspace.mcpac({"serve", "--grant", "odd.*,other.*"}, {.input = input});
    INFO(served.err);
    CHECK(has(served.err, "odd: not offered, since it is not what mcpac.lock approved: turn"));
    CHECK(has(served.err,
              "tools that mcpac.lock does not: gained; they wait for `mcpac lock accept odd`"));
    CHECK(has(served.err, "its entry was changed"));
    const auto answer = parse_json(served.out.substr(0, served.out.find('\n')));
    REQUIRE(answer.has_value());
    const std::string told = answer->at("result").value("instructions", "");
    CHECK(has(told, "odd has 1 tool that changed since it was approved: not offered"));
    CHECK(has(told, "other is another one than was approved: it is not called"));
    CHECK_FALSE(has(served.out, "another one\""));
    // Tools that wait are said once, drift at each start; others that wait are said again.
    const auto again = workspace.mcpac({"serve", "--grant", "odd.*,other.*"}, {.input = input});
    CHECK_FALSE(has(again.err, "that mcpac.lock does not"));
    CHECK(has(again.err, "odd: not offered, since it is not what mcpac.lock approved: turn"));
    write("another one", R"(, {"name": "more", "inputSchema": {"type": "object"}})");
    const auto others = workspace.mcpac({"serve", "--grant", "odd.*,other.*"}, {.input = input});
    CHECK(has(others.err, "tools that mcpac.lock does not: more; they wait for"));
  }

  TEST_CASE("a form that nobody can answer any more keeps no gateway alive") {
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const std::string input =
        request(0, "initialize",
                {{"protocolVersion", "2025-11-25"},
                 {"capabilities", {{"elicitation", Json::object()}}},
                 {"clientInfo", {{"name", "a test"}, {"version", "1"}}}})
            .dump() +
        "\n" +
        request(1, "tools/call", {{"name", "fixture.echo"}, {"arguments", {{"text", "x"}}}})
            .dump() +
        "\n";
    const auto outcome = workspace.mcpac({"serve", "--ask", "fixture.echo"}, {.input = input});
    CHECK(outcome.exit_code == 0);
    CHECK(has(outcome.out, "elicitation/create"));
    CHECK(has(outcome.out, "permission denied: fixture.echo"));
  }

  TEST_CASE("requests that end with the input are answered before the end, and recorded") {
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const std::string input =
        request(1, "tools/call",
                stateless({{"name", "fixture.slow"}, {"arguments", {{"ms", 300}}}}))
            .dump() +
        "\n" +
        request(2, "tools/call",
                stateless({{"name", "fixture.echo"}, {"arguments", Json::object()}}))
            .dump() +
        "\n";
    const std::string unreadable =
        R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"\udc00"}})"
        "\n"
        R"({"method":"ping","params":{"a":1,"a":2},"jsonrpc":"2.0","id":"four"})"
        "\n"
        R"({"jsonrpc":"2.0","id":5,"result":{"a":1,"a":2}})"
        "\n";
    const auto outcome =
        workspace.mcpac({"serve", "--grant", "fixture.slow"}, {.input = input + unreadable});
    CHECK(outcome.exit_code == 0);
    CHECK(has(outcome.out, R"("id":3,"error":{"code":-32700)"));
    CHECK(has(outcome.out, R"("id":"four","error":{"code":-32700)"));
    CHECK_FALSE(has(outcome.out, R"("id":null)"));
    CHECK_FALSE(has(outcome.out, R"("id":5)"));
    CHECK(has(outcome.out, "slept"));
    CHECK(has(outcome.out, "Unknown tool: fixture.echo"));
    const auto started = events(workspace, "RunStarted");
    REQUIRE(started.size() == 1);
    CHECK(started[0].at("payload").at("program") == "mcpac serve, stdio");
    const auto checks = events(workspace, "CapabilityCheck");
    REQUIRE(checks.size() == 2);
    CHECK(events(workspace, "RunEnded").at(0).at("payload").at("verdict") == "client-left");
    CHECK(workspace.mcpac({"audit", "verify"}).exit_code == 0);
    CHECK(workspace.mcpac({"audit", "replay", started[0].at("run_id")}).exit_code == 0);
  }

  TEST_CASE(
      "a real server's resources, prompts and logs come through, and their decisions replay") {
    const Workspace& workspace = Workspace::shared();
    int id = 0;
    std::string input;
    const auto ask = [&](std::string_view method, Json params = Json::object()) {
      input += request(++id, method, stateless(std::move(params))).dump() + "\n";
    };
    ask("server/discover");
    ask("resources/list");
    ask("resources/read", {{"uri", "demo://resource/static/document/architecture.md"}});
    ask("resources/read", {{"uri", "demo://resource/dynamic/text/1"}});
    ask("prompts/list");
    ask("prompts/get", {{"name", "everything.simple-prompt"}});
    ask("prompts/get", {{"name", "everything.args-prompt"}, {"arguments", {{"city", "Bern"}}}});
    const auto outcome = workspace.mcpac(
        {"serve", "--grant", R"(everything."resources/read"(uri starts "demo://resource/static/"))",
         "--grant", R"(everything."prompts/get"(name == "simple-prompt"))"},
        {.input = input});
    CHECK(outcome.exit_code == 0);
    std::map<int, Json> answers;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      const Json message = Json::parse(line);
      if (message.contains("id")) answers[message.at("id").get<int>()] = message;
    }
    REQUIRE(answers.size() == 7);
    CHECK(answers[1].at("result").at("capabilities").contains("prompts"));
    for (const Json& entry : answers[2].at("result").at("resources"))
      CHECK(entry.at("uri").get<std::string>().starts_with("demo://resource/static/"));
    CHECK_FALSE(answers[2].at("result").at("resources").empty());
    CHECK(answers[3].at("result").at("contents").at(0).at("text").get<std::string>().size() > 10);
    CHECK(answers[4].at("error").at("code") == -32602);
    CHECK(answers[5].at("result").at("prompts").size() == 1);
    CHECK(answers[6].at("result").at("messages").size() == 1);
    CHECK(answers[7].at("error").at("message") == "Unknown prompt: everything.args-prompt");
    const auto started = events(workspace, "RunStarted");
    REQUIRE_FALSE(started.empty());
    const auto replayed =
        workspace.mcpac({"audit", "replay", started.back().at("run_id"), "--json"});
    CHECK(replayed.exit_code == 0);
  }

  TEST_CASE("limits are a client's, and not renewed by connecting again") {
    const Workspace& workspace = Workspace::shared();
    const Serving serving(workspace, {"--grant", "everything.echo calls <= 2"});
    const Json calls = Json::array({made("everything.echo", {{"message", "x"}})});
    std::vector<bool> failed;
    for (int i = 0; i < 3; ++i) {
      const Json saw =
          official_client(workspace, {"http", serving.url(), serving.token(), calls.dump()});
      failed.push_back(saw.at("results").at(0).value("isError", false));
    }
    CHECK(failed == std::vector<bool>{false, false, true});
  }

  TEST_CASE("a token opens what its policy says, until it is revoked or over") {
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    workspace.write("echo.policy", "allow fixture.echo\n");
    workspace.write("slow.policy", "allow fixture.slow\n");
    const auto create = [&](const std::string& name, std::vector<std::string> more) {
      more.insert(more.begin(), {"token", "create", name, "--json"});
      const auto outcome = workspace.mcpac(more);
      INFO(outcome.err);
      REQUIRE(outcome.exit_code == 0);
      return std::string(outcome.json().at("token"));
    };
    const std::string one = create("one", {"--policy", "echo.policy"});
    const std::string two = create("two", {"--policy", "slow.policy"});
    const std::string brief = create("brief", {"--policy", "slow.policy", "--expires", "1s"});
    CHECK(workspace.mcpac({"token", "create", "one", "--policy", "echo.policy"}).exit_code == 64);
    const std::string kept = workspace.read(".state/mcpac/tokens.json");
    CHECK_FALSE(has(kept, one));
    const Serving serving(workspace, {"--tokens"});
    CHECK(serving.token().empty());
    const auto tools = [&](const std::string& token) {
      return post(serving.port(), {.token = token,
                                   .more = stateless_headers("tools/list"),
                                   .body = request(1, "tools/list", stateless()).dump()});
    };
    CHECK(tools(one).json().at("result").at("tools").at(0).at("name") == "fixture.echo");
    CHECK(tools(two).json().at("result").at("tools").at(0).at("name") == "fixture.slow");
    CHECK(tools("mcpac_made_up").status == 401);
    CHECK(workspace.mcpac({"token", "revoke", "one"}).exit_code == 0);
    CHECK(tools(one).status == 401);
    ::sleep(2);
    CHECK(tools(brief).status == 401);
    CHECK(tools(two).status == 200);
    CHECK(workspace.mcpac({"token", "revoke", "one"}).exit_code == 64);
  }

  TEST_CASE("its user sees a client among the live runs, takes tools away from it, and ends it") {
    const Workspace& workspace = Workspace::shared();
    Serving serving(workspace, {"--grant", "everything.echo"});
    const auto listed = workspace.mcpac({"runs", "list", "--json"});
    INFO(listed.out, listed.err);
    CHECK(has(listed.out, "mcpac serve, http"));
    const auto call = [&] {
      return post(serving.port(), {.token = serving.token(),
                                   .more = stateless_headers("tools/call", "everything.echo"),
                                   .body = request(1, "tools/call",
                                                   stateless({{"name", "everything.echo"},
                                                              {"arguments", {{"message", "x"}}}}))
                                               .dump()});
    };
    // On a machine that is busy an answer may come as a stream.
    CHECK(call().messages().back().at("result").value("isError", false) == false);
    const std::string run = events(workspace, "RunStarted").back().at("run_id");
    CHECK(workspace.mcpac({"runs", "revoke", run, "everything.echo"}).exit_code == 0);
    CHECK(call().messages().back().at("result").at("_meta").at("mcpac/error").at("kind") ==
          "revoked");
    CHECK(workspace.mcpac({"runs", "kill", run}).exit_code == 0);
    CHECK(call().status == 403);
    CHECK(serving.end() == 0);
    CHECK_FALSE(has(workspace.mcpac({"runs", "list", "--json"}).out, "mcpac serve, http"));
  }

  TEST_CASE("a policy that only limits is not taken for one that grants, and says so") {
    const Workspace workspace(Workspace::fixture("plain"));
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    workspace.write("mcpac.policy", "allow fixture.echo\n");
    const std::string words = "mcpac.policy only limits what is granted, and grants nothing";
    const auto called = workspace.mcpac({"tools", "call", "fixture.echo"});
    CHECK(called.exit_code == 77);
    CHECK(has(called.err, words));
    const auto refused = workspace.execute(
        "#include <mcpac.hpp>\nint agent_main(mcpac::Requires<mcp::fixture::echo> rt) {\n"
        "  rt.fixture.echo({.zebra = \"x\"});\n  return 0;\n}\n",
        "");
    INFO(refused.err);
    CHECK(refused.exit_code == 77);
    CHECK(has(refused.err, words));
    CHECK(has(refused.err, "(or --policy mcpac.policy, to grant all that it allows)"));
    const e2e::RunOptions client{
        .input = R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":)"
                 R"("2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})"
                 "\n"};
    const auto bare = workspace.mcpac({"serve"}, client);
    CHECK(has(bare.err, words));
    CHECK(has(bare.err, ": --policy "));
    const auto none = workspace.mcpac({"serve", "--grant", "fixture.add"}, client);
    INFO(none.err);
    CHECK(has(none.err, "admit nothing of what mcpac.lock has: it sees no tool"));
    CHECK(has(none.err, words));
    CHECK_FALSE(has(workspace.mcpac({"serve", "--grant", "fixture.echo"}, client).err, words));
    // A token's policy is held against the lock when the token is made.
    workspace.write("gone.policy", "allow fixture.no_such_tool\n");
    const auto token = workspace.mcpac({"token", "create", "t", "--policy", "gone.policy"});
    CHECK(token.exit_code == 78);
    CHECK(has(token.err, "no_such_tool"));
    workspace.write("add.policy", "deny fixture.echo\n");
    CHECK(has(workspace.mcpac({"token", "create", "t", "--policy", "add.policy"}).err,
              "the rules admit nothing"));
  }

  TEST_CASE("what cannot be served is said, with the documented exit code") {
    const Workspace& workspace = Workspace::shared();
    CHECK(workspace.mcpac({"serve", "--grant", "filesystem.no_such_tool"}).exit_code == 78);
    CHECK(workspace.mcpac({"serve", "--http", "0.0.0.0:0"}).exit_code == 64);
    CHECK(workspace.mcpac({"serve", "--http", "nonsense"}).exit_code == 64);
    CHECK(workspace.mcpac({"serve", "--tokens"}).exit_code == 64);
    CHECK(workspace.mcpac({"serve", "--network", "any"}).exit_code == 64);
    CHECK(workspace.mcpac({"token", "create", "a b", "--policy", "x"}).exit_code != 0);
  }
}
