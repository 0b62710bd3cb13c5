// The files of other clients, as `mcpac server add --import` reads them.
#include "project/clients/foreign_servers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/permission.h"

using namespace mcpac;
using project::ForeignServer;
using project::read_foreign_servers;

namespace {

const ForeignServer& one(const std::vector<ForeignServer>& servers, const std::string& name) {
  const auto found = std::ranges::find(servers, name, &ForeignServer::name);
  REQUIRE(found != servers.end());
  return *found;
}

}  // namespace

TEST_SUITE("execute/foreign_servers") {
  TEST_CASE("comments and commas at the end stand in files of editors, and are read") {
    const auto servers = read_foreign_servers(R"({
      // of the team
      "mcpServers": {
        "files": {"command": "npx", "args": ["-y", "server",], /* pinned */},
      },
    })",
                                              "mcp.json");
    REQUIRE(servers);
    REQUIRE(servers->size() == 1);
    REQUIRE(servers->at(0).entry);
    CHECK(*servers->at(0).entry == OrderedJson{{"command", "npx"}, {"args", {"-y", "server"}}});
  }

  TEST_CASE("settings of editors have servers deeper down, and an archive has none that is read") {
    const auto servers = read_foreign_servers(R"({
      "mcp": {"inputs": [], "servers": {"of-code": {"command": "s", "args": ["${env:A}"]}}},
      "context_servers": {
        "of-zed": {"source": "custom", "command": {"path": "z", "args": ["1"]}},
        "of-extension": {"source": "extension", "settings": {}}
      }
    })",
                                              "settings.json");
    REQUIRE(servers);
    CHECK(servers->size() == 3);
    REQUIRE(one(*servers, "of-code").entry);
    CHECK(one(*servers, "of-code").entry->at("args")[0] == "${env:A}");
    CHECK_FALSE(one(*servers, "of-extension").entry);
    CHECK(one(*servers, "of-extension").entry.error().where ==
          "settings.json: context_servers.of-extension");
    const auto archive = read_foreign_servers("PK\x03\x04 and so on", "files.mcpb");
    REQUIRE_FALSE(archive.has_value());
    CHECK(archive.error().what.contains("an extension (.mcpb, .dxt)"));
    CHECK(archive.error().fix.contains("manifest.json"));
  }

  TEST_CASE("what a server of VS Code names of VS Code alone keeps that one out") {
    const auto servers = read_foreign_servers(R"({
      "inputs": [{"id": "key", "type": "promptString"}],
      "servers": {
        "asks": {"command": "s", "env": {"KEY": "${input:key}"}},
        "held": {"command": "s", "sandboxEnabled": true},
        "plain": {"type": "http", "url": "https://example.com/mcp",
                  "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
        "watched": {"type": "stdio", "command": "s", "dev": {"watch": "src/**"}}
      }
    })",
                                              "mcp.json");
    REQUIRE(servers);
    CHECK(servers->size() == 4);
    const auto& asks = one(*servers, "asks");
    REQUIRE_FALSE(asks.entry);
    CHECK(asks.entry.error().where == "mcp.json: servers.asks.env.KEY");
    CHECK_FALSE(asks.entry.error().fix.empty());
    CHECK_FALSE(one(*servers, "held").entry);
    REQUIRE(one(*servers, "plain").entry);
    CHECK(one(*servers, "plain").entry->at("headers").at("Authorization") == "Bearer ${env:TOKEN}");
    REQUIRE(one(*servers, "watched").entry);
    CHECK_FALSE(one(*servers, "watched").entry->contains("dev"));
  }

  TEST_CASE("one that mcpac cannot have is an error at its place, beside the others") {
    const auto servers = read_foreign_servers(R"({"mcpServers": {
        "old": {"type": "sse", "url": "https://example.com/sse"},
        "with space": {"command": "s"},
        "list": [],
        "good": {"command": "s", "autoApprove": ["x"]}}})",
                                              "a.json");
    REQUIRE(servers);
    REQUIRE_FALSE(one(*servers, "old").entry);
    CHECK(one(*servers, "old").entry.error().where == "a.json: mcpServers.old.type");
    const auto& spaced = one(*servers, "with-space");
    REQUIRE(spaced.entry);
    CHECK(spaced.original == "with space");
    CHECK(spaced.entry->at("original_name") == "with space");
    CHECK_FALSE(one(*servers, "list").entry);
    REQUIRE(one(*servers, "good").entry);
    CHECK(one(*servers, "good").entry->contains("autoApprove"));
  }

  TEST_CASE("what any client replaces is written as mcpac has it, or refused by its name") {
    const auto servers = read_foreign_servers(R"({"mcpServers": {
        "good": {"command": "npx", "args": ["-y", "x", "~/Documents", "$HOME/y", "${REGION}", "5$"],
                 "env": {"K": "${API_KEY}", "L": "${env:L}", "M": "${file:/run/m}", "N": "pa$WORD"},
                 "timeout": 30},
        "slow": {"url": "https://a.example/${TENANT}/mcp?k=v", "timeout": 120000,
                 "headers": {"Authorization": "Bearer ${TOKEN}"}},
        "script": {"command": "bash", "args": ["-lc", "X=1; a ${X} ${HOME} ${KEY} $Y ~/z"]},
        "default": {"command": "s", "env": {"A": "${A:-b}"}},
        "nested": {"command": "s", "env": {"A": "${A:-${env:B}}"}},
        "editor": {"command": "s", "args": ["${workspaceFolder}"]},
        "windows": {"command": "cmd", "args": ["/c", "npx", "-y", "x"]},
        "path": {"command": "node", "args": ["C:\\x\\y.js"]}}})",
                                              "a.json");
    REQUIRE(servers);
    const auto& good = one(*servers, "good");
    REQUIRE_MESSAGE(good.entry, good.entry.error().to_text());
    CHECK(good.entry->dump() ==
          R"({"command":"npx","args":["-y","x","${env:HOME}/Documents","${env:HOME}/y",)"
          R"("${env:REGION}","5$"],"env":{"K":"${env:API_KEY}","L":"${env:L}",)"
          R"("M":"${file:/run/m}","N":"pa$WORD"}})");
    CHECK(good.notes == std::vector<std::string>{
                            "args[2]: ~ is written as ${env:HOME}",
                            "args[3]: $HOME is written as ${env:HOME}",
                            "args[4]: ${REGION} is written as ${env:REGION}",
                            "env.K: ${API_KEY} is written as ${env:API_KEY}",
                            "\"timeout\": 30 is left out, for it may be seconds or milliseconds: "
                            "write \"timeout\": \"30s\" or \"30ms\" in mcpac.json"});
    const auto& slow = one(*servers, "slow");
    REQUIRE(slow.entry);
    CHECK(slow.entry->at("url") == "https://a.example/${env:TENANT}/mcp?k=v");
    CHECK(slow.entry->at("headers").at("Authorization") == "Bearer ${env:TOKEN}");
    CHECK(slow.entry->at("timeout") == 120000);
    REQUIRE(one(*servers, "default").entry);
    CHECK(one(*servers, "default").entry->at("env").at("A") == "${env:A:-b}");
    CHECK(one(*servers, "default").notes ==
          std::vector<std::string>{"env.A: ${A:-…} is written as ${env:A:-…}"});
    REQUIRE(one(*servers, "script").entry);
    CHECK(one(*servers, "script").entry->at("args")[1] == "X=1; a ${X} ${HOME} ${env:KEY} $Y ~/z");
    for (const auto& [name, text] :
         {std::pair("nested", "${A:-${env:B}"), std::pair("editor", "${workspaceFolder}"),
          std::pair("windows", "the shell of Windows"), std::pair("path", "a path of Windows")}) {
      CAPTURE(std::string(name));
      const auto& refused = one(*servers, name);
      REQUIRE_FALSE(refused.entry);
      CHECK_MESSAGE(refused.entry.error().what.contains(text), refused.entry.error().to_text());
      CHECK_FALSE(refused.entry.error().fix.empty());
    }
  }

  TEST_CASE(
      "names as people have them become legal ones, and two that would be one are told apart") {
    const std::vector<std::string> originals = {"my server",  "github.com/x/y",
                                                "a.b",        "a b",
                                                "a-b",        "mcpac",
                                                "../..",      "日本",
                                                "",           "x.y",
                                                "-",          "_z",
                                                "Ünder line", std::string(200, 'n') + "!"};
    const auto names =
        project::legal_names(originals, [](const std::string& name, const std::string& original) {
          return name == "x-y" && original == "x.y";  // mcpac.json has another x-y
        });
    CHECK(names.at("my server") == "my-server");
    CHECK(names.at("github.com/x/y") == "github-com-x-y");
    CHECK(names.at("a-b") == "a-b");
    CHECK(names.at("a.b") == "a-b-2");
    CHECK(names.at("a b") == "a-b-3");
    CHECK(names.at("mcpac") == "mcpac-server");
    CHECK(names.at("x.y") == "x-y-2");
    CHECK(names.at("-") == "-");
    CHECK(names.at("_z") == "_z");
    CHECK(names.at("../..") == "server");
    std::set<std::string> all;
    for (const auto& [original, name] : names) {
      CAPTURE(original);
      CHECK(is_server_name(name));
      CHECK(all.insert(name).second);
    }
  }

  TEST_CASE("of one name in both tables the second is refused") {
    const auto servers = read_foreign_servers(
        R"({"mcpServers": {"a": {"command": "one"}}, "servers": {"a": {"command": "two"}}})",
        "a.json");
    REQUIRE(servers);
    REQUIRE(servers->size() == 2);
    REQUIRE(servers->at(0).entry);
    CHECK(servers->at(0).entry->at("command") == "one");
    REQUIRE_FALSE(servers->at(1).entry);
    CHECK(servers->at(1).entry.error().what.contains("twice"));
  }

  TEST_CASE("a file without servers, and one that is no JSON, are errors of the whole") {
    for (const char* text : {"", "{}", R"({"servers": []})", R"({"mcpServers": null})"}) {
      const auto servers = read_foreign_servers(text, "a.json");
      REQUIRE_FALSE(servers);
      CHECK(servers.error().id == ErrorId::kConfigInvalid);
      CHECK_FALSE(servers.error().fix.empty());
    }
    const auto servers = read_foreign_servers("{\n \"mcpServers\": }", "a.json");
    REQUIRE_FALSE(servers);
    CHECK(servers.error().id == ErrorId::kConfigSyntax);
    CHECK(servers.error().where.starts_with("a.json:2:"));
  }
}
