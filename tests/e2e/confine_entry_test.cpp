// How servers come into a sandbox: added, imported, adopted. Each is tried, and nothing gets one
// without a word.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

#include "core/json.h"
#include "e2e/workspace.h"
#include "places.h"

using e2e::has;
using e2e::Outcome;
using e2e::Workspace;
using mcpac::Json;

namespace {

namespace fs = std::filesystem;

std::string package(const std::string& name) {
  return mcpac::testing::in_source(
      fmt::format("tests/servers/node_modules/@modelcontextprotocol/{}/dist/index.js", name));
}

Json entries(const Workspace& workspace) {
  return mcpac::parse_json(workspace.read("mcpac.json")).value().at("mcpServers");
}

}  // namespace

TEST_SUITE("e2e/confine entry") {
  TEST_CASE(
      "a server that is added with --confine is tried in a sandbox, and comes in as it works") {
    const Workspace workspace(R"({"mcpServers": {}})");
    fs::create_directories(workspace.folder() / "data");
    const auto add = [&](std::vector<std::string> words) {
      words.insert(words.begin(), {"server", "add"});
      return workspace.mcpac(std::move(words));
    };
    const auto added =
        add({"fs", "--confine", "--", "node", package("server-filesystem"), "./data"});
    INFO(added.err);
    REQUIRE(added.exit_code == 0);
    CHECK(has(added.err, "./data:rw"));
    CHECK(has(added.err, "args[1] names it"));
    CHECK(has(added.err, "lists 14 tools"));
    CHECK(entries(workspace).at("fs").at("sandbox").at("files") == Json::array({"./data:rw"}));
    // What a person names stands for what the command names.
    CHECK(add({"own", "--files", "./data", "--", "node", package("server-filesystem"), "./data"})
              .exit_code == 0);
    CHECK(entries(workspace).at("own").at("sandbox").at("files") == Json::array({"./data"}));
    CHECK(add({"memory", "--confine", "--", "node", package("server-memory")}).exit_code == 0);
    CHECK(entries(workspace).at("memory").at("sandbox") == true);
    // One that does not start so is not added, and the ways out are said.
    const auto refused =
        add({"bad", "--confine", "--", "node", package("server-filesystem"), "/nowhere"});
    CHECK(refused.exit_code == 69);
    CHECK(has(refused.err, "bad does not start in a sandbox with no files"));
    CHECK(has(refused.err, "--files PATH[:rw]"));
    CHECK(has(refused.err, "nothing was added"));
    CHECK(has(add({"far", "--confine", "--url", "https://a.example/mcp"}).err, "MCPAC-E1000"));
    const auto container = add({"box", "--confine", "--", "docker", "run", "x"});
    CHECK(has(container.err, "no child of it"));
    CHECK(entries(workspace).size() == 3);
    CHECK(has(workspace.mcpac({"init", "--config", "other.json"}).err, "--confine"));
  }

  TEST_CASE("an import with --confine takes what works in a sandbox, and nothing with more") {
    const Workspace workspace(R"({"mcpServers": {}})");
    fs::create_directories(workspace.folder() / "data");
    workspace.write("theirs.json", fmt::format(R"({{"mcpServers": {{
      "fs": {{"command": "node", "args": ["{0}", "./data"]}},
      "bad": {{"command": "node", "args": ["{0}", "/nowhere"]}},
      "far": {{"url": "https://a.example/mcp"}}}}}})",
                                               package("server-filesystem")));
    const auto imported =
        workspace.mcpac({"server", "add", "--import", "theirs.json", "--confine"});
    INFO(imported.err);
    CHECK(imported.exit_code == 69);
    CHECK(has(imported.err, "bad is not imported: bad does not start in a sandbox"));
    const Json now = entries(workspace);
    CHECK(now.size() == 2);
    CHECK(now.at("fs").at("sandbox").at("files") == Json::array({"./data:rw"}));
    CHECK_FALSE(now.at("far").contains("sandbox"));
  }

  TEST_CASE(
      "adopted servers are confined by a switch or a yes, and those that do not start so work on") {
    const std::string theirs = fmt::format(R"({{"mcpServers": {{
      "fs": {{"command": "node", "args": ["{0}", "DATA"]}},
      "bad": {{"command": "/bin/sh", "args": ["-c", "test -e DATA && exec node {0} DATA"]}}}}}})",
                                           package("server-filesystem"));
    struct Case {
      std::string answers;  // empty: there is no terminal
      std::vector<std::string> more;
      bool confines;
    };
    const std::vector<Case> cases = {
        {"", {}, false}, {"", {"--confine"}, true}, {"y,y", {}, true}, {"n,n", {}, false}};
    for (const auto& [answers, more, confines] : cases) {
      CAPTURE(answers);
      CAPTURE(more.size());
      const Workspace workspace(R"({"mcpServers": {}})");
      const std::string data = (workspace.folder() / "data").string();
      fs::create_directories(data);
      std::string text = theirs;
      for (auto at = text.find("DATA"); at != std::string::npos; at = text.find("DATA"))
        text.replace(at, 4, data);
      workspace.write("home/.cursor/mcp.json", text);
      std::vector<std::string> words = {
          "connect", "cursor", "--ask", "*.*", "--adopt", "--file", "home/.cursor/mcp.json"};
      words.insert(words.end(), more.begin(), more.end());
      const Outcome done =
          answers.empty() ? workspace.mcpac(words) : workspace.with_person(answers, words);
      INFO(done.out << done.err);
      CHECK(done.exit_code == 0);
      const Json now = entries(workspace);
      REQUIRE(now.size() == 2);
      CHECK(now.at("fs").contains("sandbox") == confines);
      CHECK_FALSE(now.at("bad").contains("sandbox"));
      CHECK(has(done.out + done.err, confines ? "bad stays as it is" : "not confined: "));
      CHECK(workspace.mcpac({"server", "test"}).exit_code == 0);
    }
  }
}
