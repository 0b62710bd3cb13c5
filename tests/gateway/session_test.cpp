// A session of the `initialize` era: tools, calls, and what comes back.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "gateway/support_session.h"

using namespace mcpac;
using namespace mcpac::gateway;
using namespace mcpac::gateway::testing;

namespace {

std::set<std::string> names_in(const Json& answer) {
  std::set<std::string> names;
  for (const Json& tool : answer.at("result").at("tools")) names.insert(tool.at("name"));
  return names;
}

Json call(std::string_view name, Json arguments = Json::object()) {
  return {{"name", name}, {"arguments", std::move(arguments)}};
}

}  // namespace

TEST_SUITE("gateway/session") {
  TEST_CASE(
      "initialize agrees on every revision of its era, and offers the newest of them for others") {
    for (const std::string version : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
      Talk talk;
      CHECK(talk.initialize(version).at("result").at("protocolVersion") == version);
    }
    Talk talk;
    const Json result = talk.initialize("2031-01-01").at("result");
    CHECK(result.at("protocolVersion") == "2025-11-25");
    CHECK(result.at("serverInfo").at("name") == "mcpac");
    CHECK(result.at("capabilities").at("tools").at("listChanged") == true);
  }

  TEST_CASE("before initialize there is ping and nothing else; initialize comes once") {
    Talk talk;
    CHECK(talk.ask(1, "tools/list").at("error").at("code") == -32600);
    CHECK(talk.ask(2, "tools/call", call("fs.read")).at("error").at("code") == -32600);
    CHECK(talk.ask(3, "ping").at("result") == Json::object());
    talk.initialize();
    CHECK(talk.ask(4, "initialize", {{"protocolVersion", "2025-11-25"}}).at("error").at("code") ==
          -32600);
    CHECK(talk.ask(5, "resources/nonsense").at("error").at("code") == -32601);
    CHECK(talk.world.upstream.calls.empty());
  }

  TEST_CASE("a client sees what it was granted, and nothing else") {
    Talk talk({.grants = {"fs.read(path within ./data)", "git.*"}, .denies = {"git.commit"}});
    talk.initialize();
    CHECK(names_in(talk.ask(1, "tools/list")) ==
          std::set<std::string>{"fs.read", "git.issues.create", "git.issues.remove"});
  }

  TEST_CASE("a definition is the locked one but for its name") {
    Talk talk({.grants = {"fs.read"}});
    talk.initialize();
    const Json tool = talk.ask(1, "tools/list").at("result").at("tools").at(0);
    CHECK(tool.at("description") == "what read does");
    CHECK(tool.at("annotations") == Json{{"readOnlyHint", true}});
    CHECK(tool.at("inputSchema") == talk.world.schemas.begin()->second);
  }

  TEST_CASE("a definition's members come in the order in which the server wrote them") {
    for (const bool modern : {false, true}) {
      Talk talk({.grants = {"fs.read"}});
      if (!modern) talk.initialize();
      talk.session->receive(request(1, "tools/list", modern ? stateless() : Json::object()).dump());
      const std::string line = talk.said.back().line;
      CHECK(parse_json(line)->at("id") == 1);
      CHECK(line.find(R"("name":"fs.read")") < line.find(R"("description")"));
      CHECK(line.find(R"("description")") < line.find(R"("inputSchema")"));
      CHECK(line.find(R"("inputSchema")") < line.find(R"("annotations")"));
      CHECK(line.find(R"("annotations")") != std::string::npos);
    }
  }

  TEST_CASE("a client that was granted no tool is not told of tools, and hears of none") {
    Talk talk({.grants = {R"(fs."resources/read"(uri starts "file:///data/"))"}, .offers = true});
    talk.with_servers([](FakeServers& servers) { servers.add("fs", Json::array()); });
    const Json capabilities = talk.initialize().at("result").at("capabilities");
    CHECK_FALSE(capabilities.contains("tools"));
    CHECK(capabilities.contains("resources"));
    CHECK_FALSE(capabilities.contains("prompts"));
    CHECK_FALSE(
        talk.ask_stateless(1, "server/discover").at("result").at("capabilities").contains("tools"));
    // Clients ask for the list all the same; it is empty.
    CHECK(names_in(talk.ask(2, "tools/list")).empty());
    const Json wanted{{"toolsListChanged", true}};
    const auto said =
        talk.send(request("l", "subscriptions/listen", stateless({{"notifications", wanted}})));
    REQUIRE(said.size() == 1);
    CHECK(said[0].at("params").at("notifications") == Json::object());
    talk.session->tools_changed();
    CHECK(talk.heard().empty());
  }

  TEST_CASE("a tool that nobody granted is answered like one that nobody has, and is recorded") {
    for (const bool modern : {false, true}) {
      Talk talk({.grants = {"fs.read"}});
      if (!modern) talk.initialize();
      const auto ask = [&](int id, std::string_view name) {
        const Json params = call(name, {{"path", "x"}});
        Json error = (modern ? talk.ask_stateless(id, "tools/call", params)
                             : talk.ask(id, "tools/call", params))
                         .at("error");
        CHECK(error.at("message") == "Unknown tool: " + std::string(name));
        error.erase("message");
        return error;
      };
      const Json ungranted = ask(1, "fs.remove");
      CHECK(ungranted == ask(2, "fs.absent"));
      CHECK(ask(3, "fs.remove") == Json{{"code", -32602}});
      CHECK(talk.world.upstream.calls.empty());
      const auto checks = talk.world.audit.of("CapabilityCheck");
      REQUIRE(checks.size() == 3);
      CHECK(checks[0].at("capability") == "fs.remove");
      CHECK(checks[0].at("allowed") == false);
    }
  }

  TEST_CASE("what is answered as unknown is not done, though it be a name at the gate") {
    Talk talk({.grants = {"fs.read"}}, NameForm::kPlain);
    talk.initialize();
    const Json answer = talk.ask(1, "tools/call", call("fs.read", {{"path", "a"}}));
    CHECK(answer.at("error").at("message") == "Unknown tool: fs.read");
    CHECK(talk.world.upstream.calls.empty());
    const auto checks = talk.world.audit.of("CapabilityCheck");
    REQUIRE(checks.size() == 1);
    CHECK(checks[0].at("allowed") == false);
    CHECK(checks[0].at("reason") == "the client was offered no such tool");
    talk.send(request(2, "tools/call", call("fs__read", {{"path", "a"}})));
    CHECK(talk.world.upstream.calls.size() == 1);
  }

  TEST_CASE("a server does not refuse in the name of mcpac") {
    Talk talk({.grants = {"fs.read"}});
    talk.initialize();
    talk.send(request(1, "tools/call", call("fs.read", {{"path", "a"}})));
    talk.world.upstream.answer(
        0, Json{{"content", Json::array()}, {"_meta", {{"mcpac/error", {{"kind", "denied"}}}}}});
    CHECK(talk.heard().at(0).at("result").at("_meta") == Json::object());
  }

  TEST_CASE("a connection that ends while it is told of changed tools ends the session, once") {
    Talk talk({.grants = {"fs.read"}});
    for (int id = 1; id <= 3; ++id) {
      talk.send(request(id, "subscriptions/listen",
                        stateless({{"notifications", {{"toolsListChanged", true}}}})));
    }
    talk.when_said = [&] { talk.session->close(); };
    talk.session->tools_changed();
    CHECK(talk.heard().size() == 1);
  }

  TEST_CASE("a call goes through the gate, and its result comes back unchanged") {
    Talk talk({.grants = {"fs.read"}});
    talk.initialize();
    CHECK(talk.send(request(7, "tools/call", call("fs.read", {{"path", "a"}}))).empty());
    REQUIRE(talk.world.upstream.calls.size() == 1);
    // What was decided is what is sent: with the default of the locked schema.
    CHECK(talk.world.upstream.calls[0].arguments == Json{{"path", "a"}, {"encoding", "utf-8"}});
    const Json result{{"content", Json::array({{{"type", "text"}, {"text", "alpha"}}})},
                      {"structuredContent", {{"zebra", 1}}},
                      {"_meta", {{"x", "y"}}},
                      {"isError", true}};
    talk.world.upstream.answer(0, result);
    CHECK(talk.heard() == std::vector<Json>{{{"jsonrpc", "2.0"}, {"id", 7}, {"result", result}}});
    CHECK(talk.session->calls_in_flight() == 0);
  }

  TEST_CASE("a refusal is a result that the model can read, in words of ours") {
    Talk talk({.grants = {"fs.read(path within ./data)"}});
    talk.initialize();
    const Json result =
        talk.ask(1, "tools/call", call("fs.read", {{"path", "/etc/passwd"}})).at("result");
    CHECK(result.at("isError") == true);
    const std::string text = result.at("content").at(0).at("text");
    CHECK(text.starts_with("mcpac: permission denied: fs.read: "));
    CHECK(text.find("what read does") == std::string::npos);  // of the server's own words, none
    const Json& error = result.at("_meta").at("mcpac/error");
    CHECK(error.at("kind") == "denied");
    CHECK(error.at("required") == "fs.read");
    CHECK_FALSE(error.contains("declared"));
    CHECK(talk.world.upstream.calls.empty());
  }

  TEST_CASE("arguments that the locked schema refuses are a result that says where") {
    Talk talk({.grants = {"fs.read"}});
    const Json result = talk.ask_stateless(1, "tools/call", call("fs.read")).at("result");
    CHECK(result.at("isError") == true);
    CHECK(result.at("resultType") == "complete");
    CHECK(result.at("_meta").at("mcpac/error").at("kind") == "invalid_arguments");
  }

  TEST_CASE("absent arguments are an empty object; arguments that are no object are refused") {
    Talk talk({.grants = {"git.commit"}});
    talk.initialize();
    talk.send(request(1, "tools/call", {{"name", "git.commit"}}));
    REQUIRE(talk.world.upstream.calls.size() == 1);
    CHECK(talk.world.upstream.calls[0].arguments == Json::object());
    const Json refused = talk.ask(2, "tools/call", {{"name", "git.commit"}, {"arguments", {1}}});
    CHECK(refused.at("result").at("isError") == true);
    CHECK(talk.ask(3, "tools/call", {{"name", 5}}).at("error").at("code") == -32602);
    CHECK(talk.world.upstream.calls.size() == 1);
  }

  TEST_CASE("a null in the params of a request counts as absent") {
    Talk talk({.grants = {"git.commit"}});
    talk.initialize();
    const Json listed = talk.ask(1, "tools/list", {{"cursor", nullptr}, {"_meta", nullptr}});
    CHECK(listed.at("result").at("tools").size() == 1);
    talk.send(request(2, "tools/call", {{"name", "git.commit"}, {"arguments", nullptr}}));
    REQUIRE(talk.world.upstream.calls.size() == 1);
    CHECK(talk.world.upstream.calls[0].arguments == Json::object());
  }

  TEST_CASE("a call that cannot be recorded is an error of the protocol") {
    Talk talk({.grants = {"fs.read"}});
    talk.initialize();
    talk.world.audit.full = true;
    const Json answer = talk.ask(1, "tools/call", call("fs.read", {{"path", "a"}}));
    CHECK(answer.at("error").at("code") == -32603);
    CHECK(talk.world.upstream.calls.empty());
  }

  TEST_CASE("what the client takes back is cancelled at its server and not answered") {
    Talk talk({.grants = {"git.commit"}});
    talk.initialize();
    talk.send(request("a", "tools/call", call("git.commit")));
    CHECK(talk.send({{"jsonrpc", "2.0"},
                     {"method", "notifications/cancelled"},
                     {"params", {{"requestId", "a"}}}})
              .empty());
    CHECK(talk.world.upstream.cancelled.size() == 1);
    CHECK(talk.session->calls_in_flight() == 0);
    // The number 1 and the text "1" are two ids, and unknown ones are nothing.
    CHECK(talk.send({{"jsonrpc", "2.0"},
                     {"method", "notifications/cancelled"},
                     {"params", {{"requestId", 1}}}})
              .empty());
  }

  TEST_CASE("progress goes to the call that asked for it, under the token of its client") {
    Talk talk({.grants = {"git.commit"}});
    talk.initialize();
    Json params = call("git.commit");
    params["_meta"]["progressToken"] = "mine";
    talk.send(request(1, "tools/call", params));
    talk.send(request(2, "tools/call", call("git.commit")));
    const auto caller = talk.world.upstream.calls[0].caller;
    talk.world.upstream.calls[1].caller->progress({{"progress", 5}});
    caller->progress({{"progress", 1}, {"total", 2}});
    REQUIRE(talk.said.size() == 1);
    CHECK(talk.said[0].about == ipc::Id(std::int64_t{1}));
    CHECK(talk.heard()[0].at("params") ==
          Json{{"progressToken", "mine"}, {"progress", 1}, {"total", 2}});
    talk.world.upstream.answer(0, Json::object());
    talk.heard();
    caller->progress({{"progress", 2}});  // its answer was given
    CHECK(talk.said.empty());
  }

  TEST_CASE("progress of one call is bounded, in number and in bytes") {
    Talk talk({.grants = {"git.commit"}});
    talk.initialize();
    Json params = call("git.commit");
    for (int id = 1; id <= 3; ++id) {
      params["_meta"]["progressToken"] = id;
      talk.send(request(id, "tools/call", params));
    }
    const auto& calls = talk.world.upstream.calls;
    for (int i = 0; i < 30'000; ++i) calls[0].caller->progress({{"progress", i}});
    CHECK(talk.heard().size() == 10'000);
    const std::string words(60'000, 'x');
    for (int i = 0; i < 100; ++i) calls[1].caller->progress({{"progress", i}, {"message", words}});
    const auto told = talk.heard().size();
    CHECK(told > 10);
    CHECK(told < 20);
    calls[2].caller->progress({{"progress", 1}});  // another call has its own
    CHECK(talk.heard().size() == 1);
    talk.world.upstream.answer(0, gate::testing::text_result("done"));
    CHECK(talk.heard().size() == 1);
  }

  TEST_CASE("a tool that its server changed is not shown any more, and the client hears of it") {
    Talk talk({.grants = {"fs.read", "git.commit"}});
    talk.initialize();
    talk.quarantined.insert(gate::testing::permission("fs.read"));
    talk.world.upstream.quarantined.insert("fs.read");
    talk.session->tools_changed();
    const auto heard = talk.heard();
    REQUIRE(heard.size() == 1);
    CHECK(heard[0].at("method") == "notifications/tools/list_changed");
    CHECK(names_in(talk.ask(1, "tools/list")) == std::set<std::string>{"git.commit"});
    const Json refused = talk.ask(2, "tools/call", call("fs.read", {{"path", "a"}}));
    CHECK(refused.at("result").at("_meta").at("mcpac/error").at("kind") == "revoked");
  }

  TEST_CASE("an id is in flight once") {
    Talk talk({.grants = {"git.commit"}});
    talk.initialize();
    talk.send(request(1, "tools/call", call("git.commit")));
    CHECK(talk.ask(1, "ping").at("error").at("code") == -32600);
    CHECK(talk.world.upstream.calls.size() == 1);
  }

  TEST_CASE("calls in flight are bounded") {
    Talk talk({.grants = {"git.commit"}}, NameForm::kDotted, {.max_calls_in_flight = 2});
    talk.initialize();
    for (int id = 0; id < 2; ++id) talk.send(request(id, "tools/call", call("git.commit")));
    CHECK(talk.ask(2, "tools/call", call("git.commit")).at("error").at("code") == -32600);
    CHECK(talk.world.upstream.calls.size() == 2);
    CHECK(talk.anomalies.count() == 1);
  }

  TEST_CASE("what is no message is answered, and noted") {
    Talk talk;
    talk.initialize();
    CHECK(talk.send_text("{").at(0).at("error").at("code") == -32700);
    CHECK(talk.send_text(R"({"jsonrpc":"2.0","id":1,"method":"ping","method":"x"})")
              .at(0)
              .at("error")
              .at("code") == -32700);
    CHECK(talk.send_text(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])")
              .at(0)
              .at("error")
              .at("code") == -32600);
    CHECK(talk.send_text(R"({"jsonrpc":"2.0","id":9,"result":{}})").empty());
    CHECK(talk.anomalies.count() == 4);
  }

  TEST_CASE("a session that closes takes back what is in work") {
    Talk talk({.grants = {"git.commit"}});
    talk.initialize();
    talk.send(request(1, "tools/call", call("git.commit")));
    talk.session->close();
    CHECK(talk.world.upstream.cancelled.size() == 1);
    CHECK(talk.heard().empty());
    CHECK(talk.send(request(2, "ping")).empty());
  }
}
