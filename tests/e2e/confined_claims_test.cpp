// What servers say that they need, held against what the entry of a confined one gives.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "e2e/support_confined.h"
#include "places.h"

using e2e::Confined;
using e2e::has;
using e2e::RunOptions;
using e2e::server;
using e2e::Workspace;
using mcpac::Json;

TEST_SUITE("e2e/confined") {
  TEST_CASE("a tool that cannot work with what its confined server gets is not offered") {
    const auto tool = [](const char* name, const Json& effects) {
      return Json{{"name", name},
                  {"inputSchema", {{"type", "object"}}},
                  {"_meta", {{"io.mcpac/effects", effects}}}};
    };
    const Json host = {{"effect", "NetRead"}, {"host", "api.example.com"}, {"required", true}};
    const Json cache = {{"effect", "FsWrite"}, {"path", "./cache"}};
    const auto config = [](const std::string& sandbox) {
      return fmt::format(R"({{"mcpServers": {{"notes": {{"command": "node", "args":
        ["{}", "scripted", "./script.json"], "sandbox": {}}}}}}})",
                         server("fixture.mjs"), sandbox);
    };
    const Confined confined(false, config(R"({"files": ["./script.json"]})"));
    const Workspace& workspace = confined.workspace;
    Json reads = tool(
        "read", Json::array({Json{{"effect", "FsRead"}, {"path", "./data"}, {"required", true}}}));
    reads["inputSchema"]["properties"]["path"] = {{"type", "string"}};
    Json looks = tool(
        "look",
        Json::array({Json{{"effect", "FsRead"}, {"path", "./data/a.txt"}, {"required", true}}}));
    looks["inputSchema"]["properties"]["path"] = {{"type", "string"}};
    looks["inputSchema"]["required"] = Json::array({"path"});
    const Json tools = {tool("fetch", Json::array({host})), tool("keep", Json::array({cache})),
                        tool("plain", Json::array()), reads, looks};
    workspace.write("data/a.txt", "a");
    workspace.write("script.json", Json{{"version", "1"}, {"tools", tools}}.dump());
    const auto made = confined.mcpac({"generate"});
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    CHECK(has(made.err,
              "note: notes.fetch is not offered: it says it needs: network "
              "api.example.com:443 (required), which its entry does not give; where it "
              "is meant to: \"sandbox\": {\"network\": [\"api.example.com:443\"]}"));
    CHECK(has(made.err, "note: notes.keep is degraded: it says it needs: writes ./cache"));
    const auto listed = confined.mcpac({"tools", "list"});
    CHECK(has(listed.out, "[not offered]"));
    CHECK(has(listed.out, "[degraded]"));
    CHECK(has(confined.mcpac({"tools", "describe", "notes.fetch"}).out, "// not offered: it says"));

    const auto prompt = confined.mcpac({"prompt"});
    CHECK_FALSE(has(prompt.out, "fetch"));
    CHECK(has(prompt.out, "keep"));

    const auto called = confined.mcpac({"tools", "call", "notes.fetch", "--grant", "*.*"});
    CHECK(called.exit_code == 77);
    CHECK(has(called.err, "MCPAC-E0416"));
    CHECK(confined.mcpac({"tools", "call", "notes.keep", "--grant", "*.*"}).exit_code == 0);

    const std::string program =
        "#include <mcpac.hpp>\n"
        "int agent_main(mcpac::Requires<mcp::notes::fetch> rt) {\n"
        "  rt.notes.fetch();\n  return 0;\n}\n";
    // What a rule of the run gives, the tool has.
    CHECK(has(listed.out, "[in need of a rule]"));
    const Json given = {{"path", (workspace.folder() / "data/a.txt").string()}};
    for (const auto& [rule, exit_code] :
         {std::pair("notes.read(path within ./data)", 0), std::pair("notes.read", 77)}) {
      const auto read = confined.mcpac(
          {"tools", "call", "notes.read", "--arguments", given.dump(), "--grant", rule});
      INFO(rule, read.err);
      CHECK(read.exit_code == exit_code);
      CHECK(has(read.err, "MCPAC-E0416") == (exit_code != 0));
    }
    const auto file = workspace.write("agent.cpp", program);
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"execute", "--grant", "*.*", "-f", file.string()},
             {"permissions", "analyze", file.string()},
             {"permissions", "analyze", file.string(), "--grant", "*.*"}}) {
      const auto refused = confined.mcpac(words);
      INFO(refused.out, refused.err);
      CHECK(refused.exit_code == 77);
      CHECK(has(refused.err, "MCPAC-E0416"));
      CHECK(has(refused.err, "agent.cpp:3:"));
      CHECK(has(refused.err, R"("sandbox": {"network": ["api.example.com:443"]})"));
    }

    // What a yes at the terminal gives counts as granted before.
    const std::string note = (workspace.folder() / "data/a.txt").string();
    workspace.write("reads.cpp",
                    fmt::format("#include <mcpac.hpp>\n"
                                "int agent_main(mcpac::Requires<mcp::notes::look> rt) {{\n"
                                "  rt.notes.look({{.path = \"{}\"}});\n  return 0;\n}}\n",
                                note));
    const auto yes = e2e::run_program(
        {"script", "-qec", mcpac::testing::in_build("bin/mcpac execute -f reads.cpp"), "/dev/null"},
        workspace.environment(), {.input = "y\n", .folder = workspace.folder()});
    INFO(yes.out);
    CHECK(yes.exit_code == 0);
    CHECK(has(yes.out, "Allow for this run? [y/N]"));
    CHECK_FALSE(has(yes.out, "MCPAC-E0416"));

    // Ordinary clients do not see it; who runs the gateway is told once.
    RunOptions client;
    client.input =
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})"
        "\n"
        R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
        "\n"
        R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})"
        "\n";
    const auto served = workspace.mcpac({"serve", "--grant", "*.*"}, client);
    INFO(served.out, served.err);
    CHECK(has(served.out, "notes.keep"));
    CHECK_FALSE(has(served.out, "notes.fetch"));
    CHECK(has(served.err, "notes.fetch is not offered: it says it needs: network"));

    // Of a server that is not confined nothing is withheld.
    workspace.write("mcpac.json", config("false"));
    const auto bare = confined.mcpac({"tools", "list"});
    CHECK_FALSE(has(bare.out, "[not offered]"));
  }
}
