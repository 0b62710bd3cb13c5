// Confined servers of a gateway: which places they have while who is there, shared by clients or
// each client's own.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "core/file.h"
#include "core/json.h"
#include "e2e/workspace.h"
#include "faults/support_descendants.h"
#include "gate/support_gate.h"
#include "gateway/own_servers.h"
#include "gateway/support_http.h"
#include "gateway/support_serving.h"
#include "gateway/support_session.h"
#include "places.h"
#include "servers/confine/server_places.h"

namespace mcpac::gateway::testing {
namespace {

using e2e::Workspace;

std::string configuration(std::string_view sandbox) {
  return fmt::format(
      R"({{"mcpServers": {{"attempts": {{"command": "/usr/bin/python3", "args": ["{}"],
          "era": "initialize", "sandbox": {}}}}}}})",
      mcpac::testing::in_source("tests/servers/attempts.py"), sandbox);
}

class Shared {
 public:
  explicit Shared(std::string_view sandbox = "true") : workspace(configuration(sandbox)) {
    for (const char* file : {"data/a/text", "data/b/text", "data/b/secret/key"}) {
      std::filesystem::create_directories((workspace.folder() / file).parent_path());
      workspace.write(file, "shown");
    }
    workspace.write("mcpac.policy", "allow *.*\ndeny *.*(* within ./data/b/secret)\n");
    for (const char* name : {"a", "b"})
      workspace.write(fmt::format("{}.policy", name),
                      fmt::format("allow attempts.coded\n"
                                  "allow attempts.read_file(path within ./data/{})\n",
                                  name));
    const auto made = workspace.mcpac({"generate"});
    REQUIRE_MESSAGE(made.exit_code == 0, made.err);
  }
  [[nodiscard]] std::string token(const std::string& name) const {
    const auto made =
        workspace.mcpac({"token", "create", name, "--policy", name + ".policy", "--json"});
    REQUIRE_MESSAGE(made.exit_code == 0, made.err);
    return made.json().at("token");
  }
  // The text that the tool answers to this client, or the kind of error.
  [[nodiscard]] std::string call(const Serving& serving, const std::string& token,
                                 const std::string& tool, const Json& arguments) const {
    const auto answer =
        post(serving.port(), {.token = token,
                              .more = stateless_headers("tools/call", tool),
                              .body = request(1, "tools/call",
                                              stateless({{"name", tool}, {"arguments", arguments}}))
                                          .dump()})
            .messages()
            .back();
    CAPTURE(answer.dump());
    REQUIRE(answer.contains("result"));
    const auto& result = answer.at("result");
    const Json* meta = find_member(result, "_meta");
    const Json* error = meta == nullptr ? nullptr : find_member(*meta, "mcpac/error");
    return error == nullptr ? text_in(result) : string_member(*error, "kind");
  }
  // What the server's process can list.
  [[nodiscard]] std::vector<std::string> listed(const Serving& serving,
                                                const std::string& token) const {
    return Json::parse(call(serving, token, "attempts.coded", {{"text", coded(lists())}}))
        .get<std::vector<std::string>>();
  }
  [[nodiscard]] Json lists() const {
    Json list = Json::array();
    for (const char* folder : {"data/a", "data/b", "data/b/secret"})
      list.push_back(Json::array({"list", (workspace.folder() / folder).string()}));
    return list;
  }
  // How many processes of the server there are.
  [[nodiscard]] static std::size_t running(const Serving& serving) {
    const auto all = faults::descendants_of(serving.pid());
    return static_cast<std::size_t>(std::ranges::count_if(all, [](const faults::Process& one) {
      return one.name.starts_with("python") && one.command.contains("attempts.py");
    }));
  }
  static std::string coded(const Json& list) {
    std::string text;
    for (const char c : list.dump()) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return text;
  }

  Workspace workspace;
};

}  // namespace

TEST_SUITE("gateway/confined places") {
  TEST_CASE("a shared server gets what any client may name, and more when one comes who may") {
    const Shared shared;
    const std::string one = shared.token("a");
    const std::string two = shared.token("b");
    Serving serving(shared.workspace, {"--tokens"});
    using Listed = std::vector<std::string>;
    const auto first = shared.listed(serving, one);
    CAPTURE(Json(first).dump());
    CHECK(first == Listed{"[\"text\"]", "ENOENT", "ENOENT"});
    // Another client: the process is another one by its first call, and the first one sees it, too.
    CHECK(shared.listed(serving, two) == Listed{"[\"text\"]", "[\"secret\", \"text\"]", "EACCES"});
    CHECK(shared.listed(serving, one) == Listed{"[\"text\"]", "[\"secret\", \"text\"]", "EACCES"});
    // What each may ask for is as its rules say.
    const Json of_b{{"path", "data/b/text"}};
    CHECK(shared.call(serving, one, "attempts.read_file", of_b) == "denied");
    CHECK(shared.call(serving, two, "attempts.read_file", of_b) == "\"shown\"");
    const auto started = events(shared.workspace, "RunStarted");
    REQUIRE(started.size() == 2);
    const auto places_of = [](const Json& event) {
      return event.at("payload").at("server_places").at("attempts").at("places").size();
    };
    CHECK(places_of(started[0]) == 1);
    CHECK(places_of(started[1]) == 2);
    // Taken back: refused at once, and gone from the process with its next start.
    const std::string run = started[1].at("run_id");
    CHECK(shared.workspace.mcpac({"runs", "revoke", run, "attempts.read_file"}).exit_code == 0);
    CHECK(shared.call(serving, two, "attempts.read_file", of_b) == "revoked");
    CHECK(shared.listed(serving, two)[1] == "[\"secret\", \"text\"]");
    const Json end = Json::array({Json::array({"end", "0"})});
    CHECK(shared.call(serving, one, "attempts.coded", {{"text", Shared::coded(end)}}) != "denied");
    CHECK(shared.listed(serving, two) == Listed{"[\"text\"]", "ENOENT", "ENOENT"});
    const auto shown = shared.workspace.mcpac({"runs", "show", run});
    CHECK_MESSAGE(e2e::has(shown.out, "data/a read-only: "), shown.out);
    CHECK(serving.end() == 0);
  }

  TEST_CASE(
      "a process that is one client's has the places of its rules alone, and ends with its "
      "session") {
    const Shared own(R"({"share": "client"})");
    const std::string one = own.token("a");
    const std::string two = own.token("b");
    Serving serving(own.workspace, {"--tokens"});
    using Listed = std::vector<std::string>;
    const Listed of_one{"[\"text\"]", "ENOENT", "ENOENT"};
    const Listed of_two{"ENOENT", "[\"secret\", \"text\"]", "EACCES"};
    CHECK(own.listed(serving, one) == of_one);
    // The other one connects, and the first one's process has none of its places.
    const std::string session = begin_session(serving.port(), two);
    const auto in_session = [&](const Json& attempts) {
      const auto answer =
          post(serving.port(),
               {.token = two,
                .session = session,
                .body = request(7, "tools/call",
                                {{"name", "attempts.coded"},
                                 {"arguments", {{"text", Shared::coded(attempts)}}}})
                            .dump()})
              .messages()
              .back();
      CAPTURE(answer.dump());
      REQUIRE(answer.contains("result"));
      return text_in(answer.at("result"));
    };
    CHECK(Json::parse(in_session(own.lists())).get<Listed>() == of_two);
    CHECK(own.listed(serving, one) == of_one);
    CHECK(Shared::running(serving) == 2);
    // Nor what it keeps of its own.
    in_session(Json::array({Json::array({"write", "/tmp/kept"})}));
    const Json kept = Json::array({Json::array({"read", "/tmp/kept"})});
    CHECK(in_session(kept) == R"(["\"written\""])");
    CHECK(own.call(serving, one, "attempts.coded", {{"text", Shared::coded(kept)}}) ==
          R"(["ENOENT"])");
    const auto started = events(own.workspace, "RunStarted");
    REQUIRE(started.size() == 2);
    for (const Json& event : started)
      CHECK(event.at("payload").at("server_places").at("attempts").at("places").size() == 1);
    // One that ends is started again in the same sandbox; the other one goes on.
    const Json end = Json::array({Json::array({"end", "0"})});
    std::ignore = own.call(serving, one, "attempts.coded", {{"text", Shared::coded(end)}});
    CHECK(own.listed(serving, one) == of_one);
    CHECK(in_session(kept) == R"(["\"written\""])");
    // What is taken back is gone from the client's own process with its next start.
    const std::string run = started[1].at("run_id");
    CHECK(own.workspace.mcpac({"runs", "revoke", run, "attempts.read_file"}).exit_code == 0);
    in_session(end);
    CHECK(Json::parse(in_session(own.lists())).get<Listed>() ==
          Listed{"ENOENT", "ENOENT", "ENOENT"});
    // Its process ends with its session, and another session has a new one.
    RawClient client(serving.port());
    client.send(
        fmt::format("DELETE /mcp HTTP/1.1\r\nHost: localhost:{}\r\nAuthorization: Bearer "
                    "{}\r\nMcp-Session-Id: {}\r\n\r\n",
                    serving.port(), two, session));
    CHECK(client.read().status / 100 == 2);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (Shared::running(serving) > 1 && std::chrono::steady_clock::now() < patience)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(Shared::running(serving) == 1);
    CHECK(own.call(serving, two, "attempts.coded", {{"text", Shared::coded(kept)}}) ==
          R"(["ENOENT"])");
    CHECK(own.listed(serving, one) == of_one);
    CHECK(serving.end() == 0);
  }

  TEST_CASE("a server that a client's program ends is started again in the same sandbox") {
    const Shared own(R"({"share": "client"})");
    const std::string one = own.token("a");
    // What is done once on a machine is done before a client waits for it.
    REQUIRE(own.workspace
                .execute("#include <mcpac.hpp>\nint agent_main(mcpac::Requires<>) { return 0; }\n",
                         "attempts.coded")
                .exit_code == 0);
    Serving serving(own.workspace, {"--tokens", "--code"});
    const Json end = Json::array({Json::array({"end", "0"})});
    const std::string source = fmt::format(
        "#include <mcpac.hpp>\n"
        "using namespace mcp;\n"
        "mcpac::Json agent_main(mcpac::Requires<attempts::coded> rt) {{\n"
        "  const auto before = rt.attempts.coded({{.text = \"{0}\"}}).text();\n"
        "  const auto ended = rt.attempts.coded.try_call({{.text = \"{1}\"}});\n"
        "  const auto after = rt.attempts.coded({{.text = \"{0}\"}}).text();\n"
        "  return {{{{\"before\", before}}, {{\"ended\", !ended}}, {{\"after\", after}}}};\n"
        "}}\n",
        Shared::coded(own.lists()), Shared::coded(end));
    const auto answer =
        post(serving.port(), {.token = one,
                              .more = stateless_headers("tools/call", "execute_agent"),
                              .body = request(1, "tools/call",
                                              stateless({{"name", "execute_agent"},
                                                         {"arguments", {{"source", source}}}}))
                                          .dump()})
            .messages()
            .back();
    CAPTURE(answer.dump());
    const Json& result = answer.at("result").at("structuredContent").at("result");
    CHECK(result.at("ended") == true);
    CHECK(result.at("before") == R"(["[\"text\"]", "ENOENT", "ENOENT"])");
    CHECK(result.at("after") == result.at("before"));
    CHECK(serving.end() == 0);
  }

  TEST_CASE("a client's program has the process of that client, and nothing of another one's") {
    const Shared own(R"({"share": "client"})");
    const std::string one = own.token("a");
    const std::string two = own.token("b");
    // What is done once on a machine is done before a client waits for it.
    REQUIRE(own.workspace
                .execute("#include <mcpac.hpp>\nint agent_main(mcpac::Requires<>) { return 0; }\n",
                         "attempts.coded")
                .exit_code == 0);
    Serving serving(own.workspace, {"--tokens", "--code"});
    const Json write = Json::array({Json::array({"write", "/tmp/kept"})});
    const Json read = Json::array({Json::array({"read", "/tmp/kept"})});
    CHECK(own.call(serving, one, "attempts.coded", {{"text", Shared::coded(write)}}) ==
          R"(["\"done\""])");
    const auto by_program = [&](const std::string& token) {
      const std::string source = fmt::format(
          "#include <mcpac.hpp>\n"
          "using namespace mcp;\n"
          "mcpac::Json agent_main(mcpac::Requires<attempts::coded> rt) {{\n"
          "  return {{{{\"kept\", rt.attempts.coded({{.text = \"{}\"}}).text()}},\n"
          "          {{\"lists\", rt.attempts.coded({{.text = \"{}\"}}).text()}}}};\n"
          "}}\n",
          Shared::coded(read), Shared::coded(own.lists()));
      const auto answer =
          post(serving.port(), {.token = token,
                                .more = stateless_headers("tools/call", "execute_agent"),
                                .body = request(1, "tools/call",
                                                stateless({{"name", "execute_agent"},
                                                           {"arguments", {{"source", source}}}}))
                                            .dump()})
              .messages()
              .back();
      CAPTURE(answer.dump());
      return answer.at("result").at("structuredContent").at("result");
    };
    CHECK(by_program(one) ==
          Json{{"kept", R"(["\"written\""])"}, {"lists", R"(["[\"text\"]", "ENOENT", "ENOENT"])"}});
    CHECK(by_program(two) == Json{{"kept", R"(["ENOENT"])"},
                                  {"lists", R"(["ENOENT", "[\"secret\", \"text\"]", "EACCES"])"}});
    CHECK(Shared::running(serving) == 2);
    CHECK(serving.end() == 0);
  }

  TEST_CASE("wider rules behind a SIGHUP give a process more places with its next session") {
    for (const std::string_view sandbox : {"true", R"({"share": "client"})"}) {
      CAPTURE(sandbox);
      const Shared shared(sandbox);
      const std::string one = shared.token("a");
      Serving serving(shared.workspace, {"--tokens"});
      using Listed = std::vector<std::string>;
      CHECK(shared.listed(serving, one) == Listed{"[\"text\"]", "ENOENT", "ENOENT"});
      shared.workspace.write("a.policy",
                             "allow attempts.coded\n"
                             "allow attempts.read_file(path within ./data)\n");
      ::kill(serving.pid(), SIGHUP);
      const Json of_b{{"path", "data/b/text"}};
      const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      std::string read = "denied";
      while (read == "denied" && std::chrono::steady_clock::now() < patience)
        read = shared.call(serving, one, "attempts.read_file", of_b);
      CHECK(read == "\"shown\"");
      CHECK(shared.listed(serving, one) ==
            Listed{"[\"text\"]", "[\"secret\", \"text\"]", "EACCES"});
      CHECK(Shared::running(serving) == 1);
      CHECK(serving.end() == 0);
    }
  }

  TEST_CASE("so many clients have processes of their own, and one more is told until one leaves") {
    const Shared own(R"({"share": "client"})");
    Serving serving(own.workspace, {"--tokens"});
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i <= OwnServers::kMost; ++i) {
      const std::string name = fmt::format("client{}", i);
      own.workspace.write(name + ".policy", "allow attempts.coded\n");
      tokens.push_back(own.token(name));
    }
    // The first one has a session, which it can end.
    const std::string session = begin_session(serving.port(), tokens[0]);
    const Json of_end = Json::array({Json::array({"own_folders", ""})});
    const Json arguments{{"text", Shared::coded(of_end)}};
    for (std::size_t i = 1; i < OwnServers::kMost; ++i)
      CHECK(own.call(serving, tokens[i], "attempts.coded", arguments).starts_with("["));
    CHECK(Shared::running(serving) == OwnServers::kMost);
    const auto last = [&] { return own.call(serving, tokens.back(), "attempts.coded", arguments); };
    const std::string refused = last();
    CAPTURE(refused);
    CHECK_FALSE(refused.starts_with("["));
    CHECK(Shared::running(serving) == OwnServers::kMost);
    // Those that have theirs go on.
    CHECK(own.call(serving, tokens[1], "attempts.coded", arguments).starts_with("["));
    RawClient client(serving.port());
    client.send(
        fmt::format("DELETE /mcp HTTP/1.1\r\nHost: localhost:{}\r\nAuthorization: Bearer "
                    "{}\r\nMcp-Session-Id: {}\r\n\r\n",
                    serving.port(), tokens[0], session));
    CHECK(client.read().status / 100 == 2);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    std::string answer = refused;
    while (!answer.starts_with("[") && std::chrono::steady_clock::now() < patience) answer = last();
    CHECK(answer.starts_with("["));
    CHECK(serving.end() == 0);
  }

  TEST_CASE("a client hears nothing of why a call failed in a sandbox but the server's own words") {
    const Workspace workspace(R"({"mcpServers": {"opener": {"command": "/usr/bin/python3",
      "args": ["opener.py"], "era": "initialize", "sandbox": true}}})");
    workspace.write("opener.py", R"PY(import json, sys
TOOL = {"name": "open", "description": "Opens it.",
        "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = {}
    if asked["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "opener", "version": "1"}}
    if asked["method"] == "tools/list":
        result = {"tools": [TOOL]}
    if asked["method"] == "tools/call":
        try:
            open("/" + asked["params"]["arguments"]["name"])
        except OSError as error:
            result = {"isError": True, "content": [{"type": "text", "text": str(error)}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
)PY");
    workspace.write("kept/secret", "s");
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const std::string place = (workspace.folder() / "kept").string();
    workspace.write("client.policy", "allow opener.open\n");
    const auto token =
        workspace.mcpac({"token", "create", "client", "--policy", "client.policy", "--json"});
    Serving serving(workspace, {"--tokens"});
    const auto reply =
        post(serving.port(),
             {.token = token.json().at("token"),
              .more = stateless_headers("tools/call", "opener.open"),
              .body = request(1, "tools/call",
                              stateless({{"name", "opener.open"},
                                         {"arguments", {{"name", place.substr(1) + "/secret"}}}}))
                          .dump()})
            .messages();
    REQUIRE(reply.size() == 1);
    const Json& result = reply.back().at("result");
    CHECK(text_in(result) ==
          fmt::format("[Errno 2] No such file or directory: '{}/secret'", place));
    for (const char* word : {"sandbox", "confine", "mcpac/error"})
      CHECK_MESSAGE(!result.dump().contains(word), result.dump());
    CHECK(serving.end() == 0);
    // Its user does.
    const auto told = workspace.mcpac({"audit", "list", "--json", "--kind", "Anomaly"});
    CHECK_MESSAGE(e2e::has(told.out, place), told.out);
  }

  TEST_CASE("what a client cannot call any more gives a shared server nothing, and lifts nothing") {
    using std::chrono::minutes;
    gate::testing::World world;
    world.clock.stop();
    const auto folder =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-places-");
    REQUIRE(folder.has_value());
    const auto client = [&](const std::string& name, gate::testing::World::Options options) {
      auto made = run_parts(world, options, folder->path(), name);
      made.parts.reach = [](const policy::Authority& authority) {
        return servers::ReachOfServers{
            {"fs",
             {authority.reach("fs", {}, policy::Callers::kClients), authority.network_denied()}}};
      };
      return std::make_unique<ClientGrant>(std::move(made.parts), std::move(made.setup));
    };
    const auto given = [](const servers::ReachOfServers& reach) {
      std::string text;
      for (const auto& place : reach.at("fs").places.places()) text += place.path + " ";
      return text + (reach.at("fs").network_denied ? "offline" : "online");
    };
    const auto denied =
        client("denied", {.grants = {"fs.read(path within /srv/c)"}, .places = {"deny network"}});
    CHECK(given(denied->reach()) == "/srv/c offline");
    // Taken back tool by tool: with the last one goes what it lifted for the others.
    const auto one = client(
        "one", {.grants = {"fs.read(path within /srv/a)", "fs.write(path within /srv/b, ..)"}});
    const auto together = [&] {
      auto reach = denied->reach();
      servers::add_reach(reach, one->reach());
      return given(reach);
    };
    CHECK(together() == "/srv/a /srv/b /srv/c online");
    one->gate().revoke(gate::testing::permission("fs.write"));
    CHECK(together() == "/srv/a /srv/c online");
    one->gate().revoke(gate::testing::permission("fs.read"));
    CHECK(together() == "/srv/c offline");
    // By time, and where everything goes at once.
    const auto timed = client("timed", {.grants = {"fs.read(path within /srv/a) for 15m",
                                                   "fs.write(path within /srv/b, ..) for 30m"}});
    CHECK(given(timed->reach()) == "/srv/a /srv/b online");
    world.clock.pass(minutes(15));
    CHECK(given(timed->reach()) == "/srv/b online");
    world.clock.pass(minutes(15));
    CHECK(given(timed->reach()) == "offline");
    const auto two = client("two", {.grants = {"fs.read(path within /srv/a)"}});
    // Another tool by now, as its server shows it.
    world.upstream.quarantined.insert("fs.read");
    CHECK(given(two->reach()) == "offline");
    world.upstream.quarantined.clear();
    CHECK(given(two->reach()) == "/srv/a online");
    two->gate().revoke_all();
    CHECK(given(two->reach()) == "offline");
  }
}

}  // namespace mcpac::gateway::testing
