// mcpac connect as it is shipped, in a home of its own.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "core/file.h"
#include "e2e/workspace.h"

using e2e::has;
using e2e::Workspace;
using mcpac::Json;
namespace fs = std::filesystem;

namespace {

struct Home {
  Workspace workspace{Workspace::fixture("plain")};

  e2e::Outcome mcpac(std::vector<std::string> words) const {
    return workspace.mcpac(
        std::move(words),
        {.environment = {"HOME=" + workspace.folder().string() + "/home",
                         "XDG_CONFIG_HOME=", "CODEX_HOME=", "CLAUDE_CONFIG_DIR="}});
  }
  e2e::Outcome connect(const std::string& client, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"connect", client});
    return mcpac(std::move(more));
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    return workspace.read("home/" + name);
  }
  void write(const std::string& name, const std::string& text) const {
    workspace.write("home/" + name, text);
  }
};

const std::vector<std::pair<std::string, std::string>> kFiles{
    {"claude-desktop", ".config/Claude/claude_desktop_config.json"},
    {"claude-code", ".claude.json"},
    {"cursor", ".cursor/mcp.json"},
    {"vscode", ".config/Code/User/mcp.json"},
    {"codex", ".codex/config.toml"},
    {"gemini", ".gemini/settings.json"},
    {"zed", ".config/zed/settings.json"}};

const std::string kJson = R"({
  // of the user
  "theme": "dark",
}
)";

}  // namespace

TEST_SUITE("e2e/connect") {
  TEST_CASE("a client gets code mode where it is asked for, and else hears that there is one") {
    const Home home;
    home.write(".gemini/settings.json", "{}");
    const auto plain = home.connect("gemini", {"--ask", "fixture.*"});
    INFO(plain.err);
    CHECK(has(plain.err, "with --code"));
    CHECK_FALSE(has(home.read(".gemini/settings.json"), "--code"));
    const auto code = home.connect("gemini", {"--ask", "fixture.*", "--code"});
    CHECK_FALSE(has(code.err, "with --code"));
    CHECK(has(home.read(".gemini/settings.json"), "\"--code\""));
    CHECK(has(home.connect("gemini", {"--undo", "--dry-run"}).err, "dry run: nothing was written"));
  }

  TEST_CASE("every client gets its entry, again is nothing, and undo is as before") {
    const Home home;
    for (const auto& [client, name] : kFiles) {
      CAPTURE(client);
      const std::string before = client == "codex" ? "model = \"o\" # mine\n" : kJson;
      home.write(name, before);
      const auto dry = home.connect(client, {"--ask", "fixture.*", "--dry-run"});
      INFO(dry.err);
      CHECK(dry.exit_code == 0);
      CHECK(has(dry.out, "+"));
      CHECK(has(dry.out, "fixture.*"));
      CHECK(has(dry.err, "dry run: nothing was written"));
      CHECK(home.read(name) == before);
      const auto done = home.connect(client, {"--ask", "fixture.*"});
      INFO(done.err);
      CHECK(done.exit_code == 0);
      const std::string after = home.read(name);
      CHECK(has(after, "bin/mcpac\""));
      CHECK(has(after, "\"serve\""));
      CHECK(has(after, client == "codex" ? "# mine" : "// of the user"));
      const auto again = home.connect(client, {"--ask", "fixture.*"});
      CHECK(again.exit_code == 0);
      CHECK(has(again.err, "connected already"));
      CHECK(home.read(name) == after);
      const auto undone = home.connect(client, {"--undo"});
      INFO(undone.err);
      CHECK(undone.exit_code == 0);
      CHECK(home.read(name) == before);
      CHECK(home.connect(client, {"--undo"}).exit_code == 64);
    }
    const auto listed = home.mcpac({"connect", "--list", "--json"}).json();
    CHECK(listed.size() == kFiles.size());
    for (const Json& one : listed) CHECK(one.at("found") == true);
  }

  TEST_CASE("the entry works: a client that reads it reaches the tools through mcpac") {
    const Home home;
    REQUIRE(home.mcpac({"generate"}).exit_code == 0);
    home.write(".cursor/mcp.json", "{}");
    REQUIRE(home.connect("cursor", {"--grant", "fixture.echo"}).exit_code == 0);
    const Json entry =
        mcpac::parse_json(home.read(".cursor/mcp.json")).value().at("mcpServers").at("mcpac");
    std::vector<std::string> words{entry.at("command")};
    for (const Json& word : entry.at("args")) words.push_back(word);
    const std::string meta =
        R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}})";
    const auto served = e2e::run_program(
        words, home.workspace.environment(),
        {.input = R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{)" + meta + "}}\n",
         .folder = "/"});
    INFO(served.err);
    CHECK(served.exit_code == 0);
    CHECK(has(served.out, "fixture__echo"));
    CHECK_FALSE(has(served.out, "fixture__die"));
  }

  TEST_CASE("wherever the client starts it, ./ of a policy is the project's folder") {
    const Home home;
    REQUIRE(home.mcpac({"generate"}).exit_code == 0);
    home.write(".cursor/mcp.json", "{}");
    home.workspace.write("data/a", "");
    home.workspace.write("here.policy", R"(allow fixture.echo(apple within ./data)
)");
    REQUIRE(home.connect("cursor", {"--policy", "here.policy"}).exit_code == 0);
    const Json entry =
        mcpac::parse_json(home.read(".cursor/mcp.json")).value().at("mcpServers").at("mcpac");
    std::vector<std::string> words{entry.at("command")};
    for (const Json& word : entry.at("args")) words.push_back(word);
    const auto call = [&](int id, const std::string& text) {
      const Json meta{{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                      {"io.modelcontextprotocol/clientInfo", {{"name", "c"}, {"version", "1"}}},
                      {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
      const Json params{
          {"name", "fixture__echo"}, {"arguments", {{"apple", text}}}, {"_meta", meta}};
      return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", params}}
                 .dump() +
             "\n";
    };
    const std::string below = home.workspace.folder().string() + "/data/a";
    const auto served =
        e2e::run_program(words, home.workspace.environment(),
                         {.input = call(1, below) + call(2, "/data/a"), .folder = "/"});
    INFO(served.err);
    INFO(served.out);
    CHECK(served.exit_code == 0);
    std::istringstream lines(served.out);
    std::map<int, bool> refused;
    for (std::string line; std::getline(lines, line);) {
      const Json answer = mcpac::parse_json(line).value();
      if (answer.contains("result"))
        refused[answer.at("id").get<int>()] = answer.at("result").value("isError", false);
    }
    CHECK(refused == std::map<int, bool>{{1, false}, {2, true}});
  }

  TEST_CASE("a file is one file however it is written, and the undo that is printed undoes it") {
    const Home home;
    fs::create_directories(home.workspace.folder() / "other/deep");
    const std::string whole = (home.workspace.folder() / "other/cursor.json").string();
    const auto done =
        home.connect("cursor", {"--file", "other/deep/../cursor.json", "--ask", "fixture.*"});
    INFO(done.err);
    CHECK(done.exit_code == 0);
    CHECK(has(done.err, "--file " + whole));
    CHECK_FALSE(has(done.err, "as it was"));  // there was none
    CHECK(home.connect("cursor", {"--file", whole, "--undo"}).exit_code == 0);
    CHECK_FALSE(fs::exists(whole));
    CHECK(
        home.connect("cursor", {"--file", "nowhere/cursor.json", "--ask", "fixture.*"}).exit_code ==
        66);
    CHECK_FALSE(fs::exists(home.workspace.folder() / "nowhere"));
  }

  TEST_CASE("what mcpac serve would refuse is refused when it is written") {
    const Home home;
    home.write(".cursor/mcp.json", "{}");
    REQUIRE(home.mcpac({"generate"}).exit_code == 0);
    CHECK(home.connect("cursor", {"--grant", "fixture.echo("}).exit_code == 78);
    home.workspace.write("bad.policy", "allow fixture.echo(\n");
    CHECK(home.connect("cursor", {"--policy", "bad.policy"}).exit_code == 78);
    CHECK(home.mcpac({"token", "create", "bob", "--policy", "bad.policy"}).exit_code == 78);
    CHECK(home.mcpac({"--config", "absent.json", "connect", "cursor", "--ask", "fixture.*"})
              .exit_code == 66);
    CHECK(home.read(".cursor/mcp.json") == "{}");
  }

  TEST_CASE("-C does all as if started in the folder, and stands first") {
    const Home home;
    const std::string folder = home.workspace.folder().string();
    const auto there =
        home.workspace.mcpac({"-C", folder, "server", "list", "--json"}, {.folder = "/"});
    INFO(there.err);
    CHECK(there.exit_code == 0);
    CHECK(has(there.out, "fixture"));
    const auto nowhere =
        home.workspace.mcpac({"-C", folder + "/nowhere", "server", "list"}, {.folder = "/"});
    CHECK(nowhere.exit_code == 66);
    CHECK(has(nowhere.err, "No such file or directory"));
    CHECK(home.mcpac({"server", "list", "-C", "."}).exit_code == 64);
    CHECK(home.mcpac({"--json", "-C", ".", "server", "list"}).exit_code == 64);
  }

  TEST_CASE("mcpac serve says on standard error why a server cannot be used") {
    const Home home;
    REQUIRE(home.mcpac({"generate"}).exit_code == 0);
    home.workspace.write("mcpac.json", R"({"mcpServers": {"fixture": {"command": "./nowhere"}}})");
    const auto served = home.workspace.mcpac({"serve", "--grant", "fixture.*"},
                                             {.input = R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                                                       "\n"});
    INFO(served.err);
    CHECK(has(served.err, "is not the one that mcpac.lock approved"));
    CHECK(has(home.mcpac({"serve"}).err, "no rule is given"));
  }

  TEST_CASE("servers move behind mcpac, their secrets into files, and nothing of them is printed") {
    const Home home;
    home.write(".cursor/mcp.json", R"({"mcpServers": {
  "github": {"command": "npx", "args": ["-y", "gh", "--key=s3cr3t"], "env": {"GITHUB_TOKEN": "ghp_s3cr3t_value", "MODE": "fast"}},
  "remote": {"url": "https://a.example/mcp", "headers": {"Authorization": "Bearer ${env:REMOTE_TOKEN}"}},
  "odd": {"command": "x", "args": ["${workspaceFolder}"]}
}}
)");
    const std::string before = home.read(".cursor/mcp.json");
    const std::string config = home.workspace.read("mcpac.json");
    const auto dry = home.connect("cursor", {"--ask", "*.*", "--adopt", "--dry-run"});
    INFO(dry.err);
    CHECK(dry.exit_code == 0);
    CHECK_FALSE(has(dry.out + dry.err, "s3cr3t"));
    CHECK(has(dry.out, "-"));
    CHECK(has(dry.err, "odd stays in Cursor"));
    CHECK(has(dry.out, "+++ mcpac.json"));
    CHECK(has(dry.out, "+    \"github\": {"));
    CHECK(has(dry.out, "+        \"GITHUB_TOKEN\": \"…\""));
    CHECK(has(dry.err, "a file of its own, for you alone: GITHUB_TOKEN of github"));
    const Json both =
        home.connect("cursor", {"--ask", "*.*", "--adopt", "--dry-run", "--json"}).json();
    CHECK(has(both["diff"].dump(), "github"));
    CHECK(has(both["config_diff"].dump(), "GITHUB_TOKEN"));
    REQUIRE(both["secrets"].size() == 1);
    CHECK(both["secrets"][0]["name"] == "GITHUB_TOKEN");
    CHECK_FALSE(has(both.dump(), "s3cr3t"));
    CHECK(home.read(".cursor/mcp.json") == before);
    CHECK(home.workspace.read("mcpac.json") == config);
    CHECK(has(dry.out, "+      \"command\": \"npx\""));  // what is started is seen
    CHECK(has(dry.out, "+        \"--key=…\""));
    CHECK(has(dry.out, "+        \"Authorization\": \"Bearer ${env:REMOTE_TOKEN}\""));
    CHECK(both["past"][0]["server"] == "odd");
    const auto done = home.connect("cursor", {"--ask", "*.*", "--adopt"});
    INFO(done.err);
    REQUIRE(done.exit_code == 78);  // odd is not behind mcpac
    CHECK(has(done.err, "Cursor still reaches past mcpac: odd"));
    CHECK_FALSE(has(done.out + done.err, "s3cr3t"));
    CHECK(has(done.err, "mcpac generate"));
    const Json after = mcpac::parse_json(home.read(".cursor/mcp.json")).value().at("mcpServers");
    CHECK(after.size() == 2);
    CHECK(after.contains("odd"));
    CHECK(after.at("mcpac").at("env").at("REMOTE_TOKEN") == "${env:REMOTE_TOKEN}");
    // What stays in the open is said, each time.
    for (const auto* run : {&dry, &done}) {
      CHECK(has(run->err, "github: args[2] (--key) looks like a secret"));
      CHECK_FALSE(has(run->err, "env.GITHUB_TOKEN looks"));
    }
    CHECK_FALSE(has(home.workspace.read("mcpac.json"), "ghp_s3cr3t"));
    const Json moved =
        mcpac::parse_json(home.workspace.read("mcpac.json")).value().at("mcpServers");
    CHECK(moved.size() == 3);
    CHECK(moved.at("github").at("env").at("MODE") == "fast");
    CHECK(moved.at("remote").at("headers").at("Authorization") == "Bearer ${env:REMOTE_TOKEN}");
    const std::string reference = moved.at("github").at("env").at("GITHUB_TOKEN");
    REQUIRE(reference.starts_with("${file:"));
    const fs::path secret = reference.substr(7, reference.size() - 8);
    struct stat facts {};
    REQUIRE(::stat(secret.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0600);
    CHECK(mcpac::read_file(secret).value() == "ghp_s3cr3t_value\n");
    CHECK(home.connect("cursor", {"--undo"}).exit_code == 0);
    CHECK(home.read(".cursor/mcp.json") == before);
  }

  TEST_CASE(
      "servers in settings of editors, and extensions that start some, are said after --adopt") {
    const Home home;
    home.write(".config/Code/User/mcp.json", R"({"servers": {}})");
    home.write(".config/Code/User/settings.json",
               "{\n  // mine\n  \"mcp\": {\"servers\": {\"old\": {\"command\": \"s\"}}},\n}\n");
    home.workspace.write(".vscode/settings.json",
                         R"({"mcp": {"servers": {"of-folder": {"command": "s"}}}})");
    home.workspace.write(".vscode/mcp.json", R"({"servers": {"of-project": {"command": "s"}}})");
    const auto code = home.connect("vscode", {"--ask", "*.*", "--adopt"});
    INFO(code.err);
    CHECK(code.exit_code == 78);
    for (const char* name : {"old (in ", "of-folder (in ", "of-project (in "})
      CHECK(has(code.err, name));
    CHECK(has(code.err, "\"mcp.servers\" of that file is not written; take it out there"));
    home.write(".config/zed/settings.json", R"({"context_servers": {
  "mine": {"command": "s", "args": ["one"]}, // a comment
  "of-extension": {"source": "extension", "settings": {}},
}})");
    const auto zed = home.connect("zed", {"--ask", "*.*", "--adopt"});
    INFO(zed.err);
    CHECK(zed.exit_code == 78);
    CHECK(has(zed.err, "moved behind mcpac: mine"));
    CHECK(has(zed.err, "of-extension stays in Zed: an extension of Zed starts it"));
    home.write(".config/Claude/claude_desktop_config.json", "{}");
    home.write(".config/Claude/Claude Extensions/ant.dir.files/manifest.json",
               R"({"name": "files", "server": {"type": "node"}})");
    home.write(".config/Claude/Claude Extensions/off/manifest.json", R"({"name": "off"})");
    home.write(".config/Claude/Claude Extensions Settings/off.json", R"({"isEnabled": false})");
    const auto desktop = home.connect("claude-desktop", {"--ask", "*.*", "--adopt"});
    INFO(desktop.err);
    CHECK(desktop.exit_code == 78);
    CHECK(has(desktop.err, "files (an extension, "));
    CHECK(has(desktop.err, "mcpac reads and moves no extension (.mcpb, .dxt)"));
    CHECK_FALSE(has(desktop.err, "off (an extension"));
    home.write(".gemini/settings.json", "{}");
    home.write(".gemini/extensions/tools/gemini-extension.json",
               R"({"name": "tools", "mcpServers": {"t": {"command": "s"}}})");
    home.write(".gemini/extensions/words/gemini-extension.json", R"({"name": "words"})");
    const auto gemini = home.connect("gemini", {"--ask", "*.*", "--adopt"});
    CHECK(gemini.exit_code == 78);
    CHECK(has(gemini.err, "tools (an extension, "));
    CHECK_FALSE(has(gemini.err, "words (an"));
  }

  TEST_CASE(
      "after --adopt no server is past mcpac unless that is said, with a code that is not 0") {
    const Home home;
    const std::string before = R"({"mcpServers": {
  "twin": {"command": "s", "args": ["x"], "env": {"TOKEN": "s3cr3t-v4lue-of-the-twin"}},
  "my server": {"command": "s", "args": ["one"]},
  "my.server": {"command": "s", "args": ["two"]}
}}
)";
    home.write(".cursor/mcp.json", before);
    const auto adopt = [&home] { return home.connect("cursor", {"--ask", "*.*", "--adopt"}); };
    const auto config = [&home] {
      return mcpac::parse_json(home.workspace.read("mcpac.json")).value().at("mcpServers");
    };
    const auto left = [&home] {
      return mcpac::parse_json(home.read(".cursor/mcp.json")).value().at("mcpServers").size();
    };
    const auto first = adopt();
    INFO(first.err);
    CHECK(first.exit_code == 0);
    CHECK(has(first.err, "\"my.server\" is called my-server-2 here"));
    CHECK(left() == 1);
    const Json once = config();
    CHECK(once.at("my-server").at("original_name") == "my server");
    CHECK(once.at("my-server-2").at("args")[0] == "two");
    CHECK(has(home.mcpac({"server", "list"}).out, "(originally \"my server\")"));
    // Undone and adopted again: the entries that mcpac.json has are the same ones.
    REQUIRE(home.connect("cursor", {"--undo"}).exit_code == 0);
    CHECK(home.read(".cursor/mcp.json") == before);
    const auto again = adopt();
    INFO(again.err);
    CHECK(again.exit_code == 0);
    CHECK(has(again.err, "twin is in mcpac.json already"));
    CHECK(left() == 1);
    CHECK(config() == once);
    // One that is another by now, one of another folder, and those of other files stay, and are
    // said.
    REQUIRE(home.connect("cursor", {"--undo"}).exit_code == 0);
    home.write(".cursor/mcp.json", R"({"mcpServers": {
  "twin": {"command": "other"}, "local": {"command": "node", "args": ["./server.js"]},
  "gate": {"command": "/bin/mcpac", "args": ["serve"]}}})");
    home.workspace.write(".cursor/mcp.json", R"({"mcpServers": {"of-project": {"command": "s"}}})");
    for (int i = 0; i < 2; ++i) {
      const auto past = adopt();
      INFO(past.err);
      CHECK(past.exit_code == 78);
      CHECK(has(past.err, "twin stays in Cursor: mcpac.json has another server of this name"));
      CHECK(has(past.err, "local stays in Cursor: ./server.js is relative"));
      CHECK(has(past.err, "Cursor reaches of-project (in "));
      CHECK_FALSE(has(past.err, "gate stays"));
      CHECK(has(past.err, "Cursor reaches gate past mcpac: it starts a program called mcpac"));
      CHECK(config() == once);
    }
    // In the project's own file "./" is the project's folder, here as there.
    home.workspace.write(".cursor/mcp.json", R"({"mcpServers": {"here": {"command": "./run"}}})");
    home.write(".cursor/mcp.json", "{}");
    const auto own =
        home.connect("cursor", {"--file", ".cursor/mcp.json", "--ask", "*.*", "--adopt"});
    INFO(own.err);
    CHECK(own.exit_code == 0);
    CHECK(config().at("here").at("command") == "./run");
    home.write(".claude.json",
               R"({"projects": {"/p": {"mcpServers": {"scoped": {"command": "s"}}}}})");
    const auto scoped = home.connect("claude-code", {"--ask", "*.*", "--adopt"});
    INFO(scoped.err);
    CHECK(scoped.exit_code == 78);
    CHECK(has(scoped.err, "scoped (project /p)"));
  }

  TEST_CASE("nothing is written where something is wrong, with the documented exit code") {
    const Home home;
    CHECK(home.connect("cursor", {"--ask", "fixture.*"}).exit_code == 66);
    CHECK_FALSE(fs::exists(home.workspace.folder() / "home/.cursor"));
    home.write(".cursor/mcp.json", R"({"mcpServers": {"mcpac": {"command": "other"}}})");
    const std::string before = home.read(".cursor/mcp.json");
    CHECK(home.connect("cursor").exit_code == 64);
    CHECK(home.connect("cursor", {"--ask", "fixture.*"}).exit_code == 64);
    CHECK(home.connect("cursor", {"--grant", "fixture.echo(zebra within ./x)"}).exit_code == 64);
    CHECK(home.connect("cursor", {"--policy", "no.policy"}).exit_code == 66);
    CHECK(home.connect("netscape", {"--ask", "fixture.*"}).exit_code == 64);
    CHECK(home.mcpac({"connect"}).exit_code == 64);
    CHECK(home.connect("cursor", {"--undo", "--adopt"}).exit_code == 64);
    CHECK(home.read(".cursor/mcp.json") == before);
    CHECK(home.connect("cursor", {"--ask", "fixture.*", "--as", "gate"}).exit_code == 0);
    CHECK(has(home.read(".cursor/mcp.json"), "\"other\""));
    CHECK(home.connect("cursor", {"--ask", "fixture.*", "--as", "gate2"}).exit_code == 64);
    home.write(".gemini/settings.json", "{\"broken\": ");
    const auto broken = home.connect("gemini", {"--ask", "fixture.*"});
    CHECK(broken.exit_code == 65);
    CHECK(home.read(".gemini/settings.json") == "{\"broken\": ");
  }
}
