// The configuration of clients: where it lies, what of it can stand behind mcpac, and how it is
// written and taken back.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/file.h"
#include "mcp/server_config.h"
#include "project/clients/adopt.h"
#include "project/clients/client_file.h"
#include "project/clients/connection_record.h"

using namespace mcpac;
using namespace mcpac::project;
namespace fs = std::filesystem;

namespace {

const ClientKind& kind(std::string_view id) {
  const auto* found = find_client_kind(id);
  REQUIRE(found != nullptr);
  return *found;
}

struct Home {
  TemporaryFolder folder =
      TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
  ClientPlaces places{.home = folder.path(), .config = folder.path() / ".config"};
  ConnectionRecords records{folder.path() / "state"};

  fs::path write(const std::string& name, const std::string& text, unsigned mode = 0600) const {
    const auto path = folder.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    return path;
  }
  [[nodiscard]] std::string read(const fs::path& path) const { return read_file(path).value(); }
};

unsigned mode_of(const fs::path& path) {
  struct stat facts {};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  return facts.st_mode & 0777U;
}

Adopted adopted(std::string_view client, const OrderedJson& entry) {
  auto made = adopt(kind(client), "one", entry);
  REQUIRE_MESSAGE(made.has_value(), made.error().to_text());
  return std::move(*made);
}

const OrderedJson kEntry{{"command", "/bin/mcpac"}, {"args", {"serve"}}};

// connect, as the command line does it.
void connect(const Home& home, const fs::path& path, const std::vector<std::string>& moved = {},
             const OrderedJson& entry = kEntry) {
  auto file = ClientFile::open(kind("cursor"), path).value();
  const auto before = file.servers();
  const auto last = home.records.find(file).value();
  for (const auto& name : moved) REQUIRE(file.remove(name).has_value());
  REQUIRE(file.put("mcpac", entry).has_value());
  REQUIRE(home.records.keep(file, record_of(file, "mcpac", before, last)).has_value());
  REQUIRE(file.save().has_value());
}

// What it says: exactly as before, or not.
bool undo(const Home& home, const fs::path& path) {
  auto file = ClientFile::open(kind("cursor"), path).value();
  const auto record = home.records.find(file).value();
  REQUIRE(record.has_value());
  const bool exactly = record->is_exact && is_as_written(*record, file);
  if (exactly) {
    REQUIRE(file.restore(record->before, record->existed).has_value());
  } else {
    REQUIRE(take_back(*record, file).has_value());
    REQUIRE(file.save().has_value());
  }
  home.records.forget(file);
  return exactly;
}

}  // namespace

TEST_SUITE("execute/clients") {
  TEST_CASE("clients are found where they keep their configuration, on macOS as well") {
    const Home home;
    for (const ClientKind& one : client_kinds()) CHECK_FALSE(place_of(one, home.places).is_found);
    CHECK(place_of(kind("claude-desktop"), home.places).file ==
          home.places.config / "Claude/claude_desktop_config.json");
    home.write("Library/Application Support/Claude/claude_desktop_config.json", "{}");
    home.write(".config/Code - Insiders/User/mcp.json", "{}");
    home.write(".claude/settings.json", "{}");
    home.write("codex-home/config.toml", "");
    CHECK(place_of(kind("claude-desktop"), home.places).file ==
          home.folder.path() / "Library/Application Support/Claude/claude_desktop_config.json");
    CHECK(place_of(kind("vscode"), home.places).file ==
          home.places.config / "Code - Insiders/User/mcp.json");
    CHECK(place_of(kind("claude-code"), home.places).file == home.folder.path() / ".claude.json");
    ClientPlaces other = home.places;
    other.codex = home.folder.path() / "codex-home";
    other.claude = home.folder.path() / ".claude";
    CHECK(place_of(kind("codex"), other).is_found);
    CHECK(place_of(kind("claude-code"), other).file == home.folder.path() / ".claude/.claude.json");
    CHECK(find_client_kind("netscape") == nullptr);
  }

  TEST_CASE("an entry is adopted with its environment, secrets and variables told") {
    const auto made = adopted("cursor", {{"command", "npx"},
                                         {"args", {"-y", "server", "${env:REGION}"}},
                                         {"env", {{"GITHUB_TOKEN", "ghp_x"}, {"MODE", "fast"}}}});
    CHECK(made.entry["args"][2] == "${env:REGION}");
    CHECK(made.variables == std::set<std::string>{"REGION"});
    REQUIRE(made.secrets.size() == 1);
    CHECK(made.secrets[0].name == "GITHUB_TOKEN");
    CHECK(adopted("claude-code", {{"type", "stdio"}, {"command", "a"}, {"env", {{"K", "${K}"}}}})
              .entry["env"]["K"] == "${env:K}");
    CHECK(adopted("gemini", {{"command", "a"}, {"env", {{"K", "$K/${L} costs 5$"}}}})
              .entry["env"]["K"] == "${env:K}/${env:L} costs 5$");
    CHECK(adopted("gemini", {{"httpUrl", "https://a.example/mcp"}, {"trust", true}})
              .entry["httpUrl"] == "https://a.example/mcp");
    CHECK(adopted("claude-desktop", {{"command", "a"}, {"args", {"$HOME/a", "${HOME}"}}})
              .entry["args"] == OrderedJson({"${env:HOME}/a", "${env:HOME}"}));
    const auto codex = adopted("codex", {{"url", "https://a.example/mcp"},
                                         {"bearer_token_env_var", "T"},
                                         {"env_http_headers", {{"X-Team", "TEAM"}}},
                                         {"http_headers", {{"X-Region", "eu"}}},
                                         {"tool_timeout_sec", 60}});
    CHECK(codex.entry["headers"]["Authorization"] == "Bearer ${env:T}");
    CHECK(codex.entry["headers"]["X-Team"] == "${env:TEAM}");
    CHECK(codex.entry["headers"]["X-Region"] == "eu");
    CHECK(codex.variables == std::set<std::string>{"T", "TEAM"});
    CHECK(codex.entry["timeout"] == "60s");
    const auto otherwise =
        adopted("claude-code", {{"command", "a"},
                                {"args", {"${MODE:-fast}", "${X:-}", "${TEAM:-a}${TEAM}"}},
                                {"env", {{"API_KEY", "${K:-s3cret}"}}}});
    CHECK(otherwise.entry["args"] ==
          OrderedJson{"${env:MODE:-fast}", "${env:X:-}", "${env:TEAM:-a}${env:TEAM}"});
    CHECK(otherwise.entry["env"]["API_KEY"] == "${env:K:-s3cret}");
    CHECK(otherwise.variables == std::set<std::string>{"K", "MODE", "TEAM", "X"});
    CHECK(otherwise.optional == std::set<std::string>{"K", "MODE", "X"});
    for (const std::string& note : otherwise.notes) CHECK_FALSE(note.contains("s3cret"));
    OrderedJson given = OrderedJson::object();
    give_variables(kind("claude-code"), otherwise.variables, given, otherwise.optional);
    CHECK(given.dump() ==
          R"({"env":{"K":"${K:-}","MODE":"${MODE:-}","TEAM":"${TEAM}","X":"${X:-}"}})");
    const auto home = adopted("cursor", {{"command", "~/bin/a"},
                                         {"cwd", "~"},
                                         {"args", {"--dir=~/b", "a~b", "~jo/c"}},
                                         {"env", {{"D", "~/d"}}},
                                         {"timeout", 30}});
    CHECK(home.entry.dump() ==
          R"({"command":"${env:HOME}/bin/a","cwd":"${env:HOME}",)"
          R"("args":["--dir=${env:HOME}/b","a~b","~jo/c"],"env":{"D":"${env:HOME}/d"}})");
    REQUIRE(home.notes.size() == 5);
    CHECK(home.notes[0] == "command: ~ is written as ${env:HOME}");
    CHECK(home.notes[4].contains("\"30s\" or \"30ms\""));
    CHECK(adopted("claude-code", {{"command", "a"}, {"timeout", 500}}).entry["timeout"] == "500ms");
  }

  TEST_CASE("entries of Zed are adopted in both of their forms, and those of its extensions stay") {
    const OrderedJson plain{{"command", "npx"}, {"args", {"-y", "a"}}, {"env", {{"M", "1"}}}};
    CHECK(adopted("zed", plain).entry == plain);
    OrderedJson with_source = plain;
    with_source["source"] = "custom";
    CHECK(adopted("zed", with_source).entry == plain);
    CHECK(is_same_server(
        adopted("zed",
                {{"source", "custom"},
                 {"command", {{"path", "npx"}, {"args", {"-y", "a"}}, {"env", {{"M", "1"}}}}},
                 {"settings", OrderedJson::object()}})
            .entry,
        plain));
    CHECK(adopted("zed", {{"url", "https://a.example/mcp"}}).entry["url"] ==
          "https://a.example/mcp");
    const auto extension =
        adopt(kind("zed"), "one", {{"source", "extension"}, {"settings", {{"a", 1}}}});
    REQUIRE_FALSE(extension.has_value());
    CHECK(extension.error().what.contains("an extension of Zed starts it"));
    // Its settings have comments, commas at the end, and much else.
    const Home home;
    const auto path = home.write(".config/zed/settings.json", R"(// Zed settings
{
  "theme": "One Dark", // dark
  "context_servers": {
    "one": {"command": "npx", "args": ["-y", "a"],},
  },
}
)");
    auto file = ClientFile::open(kind("zed"), path).value();
    CHECK(file.servers().size() == 1);
    REQUIRE(file.remove("one").has_value());
    REQUIRE(file.put("mcpac", kEntry).has_value());
    REQUIRE(file.save().has_value());
    const auto written = home.read(path);
    CHECK(written.starts_with("// Zed settings\n{\n  \"theme\": \"One Dark\", // dark\n"));
    CHECK(ClientFile::open(kind("zed"), path).value().servers()["mcpac"] == kEntry);
  }

  TEST_CASE("what mcpac cannot do in the client's place stays there, with why") {
    const std::vector<std::pair<std::string, OrderedJson>> cases{
        {"vscode", {{"command", "a"}, {"args", {"${workspaceFolder}"}}}},
        {"vscode", {{"command", "a"}, {"env", {{"K", "${input:key}"}}}}},
        {"cursor", {{"command", "a"}, {"args", {"${userHome}/x"}}}},
        {"cursor", {{"command", "a"}, {"args", {"${env:}"}}}},
        {"cursor", {{"command", "a"}, {"envFile", ".env"}}},
        {"cursor", {{"type", "sse"}, {"url", "https://a.example/sse"}}},
        {"claude-code", {{"command", "a"}, {"args", {"${X:?y}"}}}},
        {"claude-code", {{"command", "a"}, {"args", {"${X:-${Y}}"}}}},
        {"cursor", {{"command", "a"}, {"args", {"${env:X:-y}"}}}},
        {"claude-desktop", {{"command", "a"}, {"args", {"${env:NOT_ONE}"}}}},
        {"claude-desktop", {{"command", "a"}, {"env", {{"K", "${API_KEY}"}}}}},
        {"claude-desktop", {{"command", "cmd"}, {"args", {"/c", "npx", "a"}}}},
        {"cursor", {{"command", "sh"}, {"args", {"-c", "cd ${workspaceFolder}"}}}},
        {"gemini", {{"command", "a"}, {"args", {"$${X}"}}}},
        {"codex", {{"command", "a"}, {"args", {"${file:/etc/passwd}"}}}},
        {"codex", {{"command", "a"}, {"env_vars", {1}}}},
        {"codex", {{"command", "a"}, {"enabled_tools", {"one"}}}},
        {"codex", {{"command", "a"}, {"disabled_tools", {"one"}}}},
        {"vscode", {{"command", "a"}, {"sandboxEnabled", true}}},
        {"cursor", {{"url", "https://a.example/mcp?api_key=x"}}},
        {"cursor", {{"url", "https://jo:pw@a.example/mcp"}}},
        {"gemini", {{"httpUrl", "https://a.example?k=x"}}},
        {"cursor", {{"neither", "a"}}},
        {"cursor", "text"}};
    for (const auto& [client, entry] : cases)
      CHECK_MESSAGE(!adopt(kind(client), "one", entry).has_value(), entry.dump());
    CHECK_FALSE(adopt(kind("cursor"), "a name", {{"command", "a"}}).has_value());
    CHECK_FALSE(adopt(kind("cursor"), "mcpac", {{"command", "a"}}).has_value());
  }

  TEST_CASE("what is read from the client's folder is known, and what is not is not") {
    for (const auto& [entry, part] : std::vector<std::pair<OrderedJson, std::string>>{
             {{{"command", "./server"}}, "./server"},
             {{{"command", "bin/server"}}, "bin/server"},
             {{{"command", "node"}, {"args", {"server.js"}}}, "server.js"},
             {{{"command", "npx"}, {"args", {"tsx", "src/a.ts"}}}, "src/a.ts"},
             {{{"command", "x"}, {"args", {"--config=../c.json"}}}, "../c.json"},
             {{{"command", "x"}, {"args", {"."}}}, "."},
             {{{"command", "x"}, {"cwd", "sub"}}, "sub"},
             {{{"command", "./x"}, {"cwd", "/a"}}, ""},
             {{{"command", "/a/x"}, {"args", {"/b.js", "-y", "@a/b.js", "x.js", "https://a/b.js"}}},
              ""},
             {{{"command", "sh"}, {"args", {"-c", "./x"}}}, ""},
             {{{"url", "https://a.example/./x.js"}}, ""}}) {
      CAPTURE(entry.dump());
      CHECK(relative_part(entry) == part);
    }
    CHECK(folder_of_entries("/p/.cursor/mcp.json") == "/p");
    CHECK(folder_of_entries("/p/.mcp.json") == "/p");
    CHECK(folder_of_entries("/p/mcp.json").empty());
  }

  TEST_CASE("a server is the same where ours keeps its secret in a file, and another one else") {
    const Home home;
    const auto secret = home.write("secret", "s3cr3t\n");
    const OrderedJson theirs{{"type", "stdio"},
                             {"command", "a"},
                             {"args", {"b"}},
                             {"env", {{"T", "s3cr3t"}, {"M", "1"}}}};
    OrderedJson ours = theirs;
    ours["env"]["T"] = "${file:" + secret.string() + "}";
    ours["root"] = "data";
    ours["original_name"] = "an a";
    CHECK(is_same_server(ours, theirs));
    for (const auto& [member, value] : std::vector<std::pair<const char*, OrderedJson>>{
             {"command", "x"}, {"args", {"b", "c"}}, {"cwd", "/x"}, {"env", {{"T", "s3cr3t"}}}}) {
      OrderedJson other = theirs;
      other[member] = value;
      CHECK_FALSE(is_same_server(ours, other));
    }
    home.write("secret", "another\n");
    CHECK_FALSE(is_same_server(ours, theirs));
  }

  TEST_CASE("secrets are known by name and by looks") {
    for (const auto& [name, value] :
         {std::pair{"API_KEY", "x"}, std::pair{"Authorization", "Bearer abc"},
          std::pair{"DB", "postgres://jo:pw@host/db"}, std::pair{"X", "Zm9vYmFyMTIzNDU2Nzg5MA=="},
          std::pair{"password", "pw"}, std::pair{"DB_PASS", "x"}, std::pair{"GITHUB_PAT", "x"},
          std::pair{"TOKEN", "Bearer ${env:T:-s3cret}"}, std::pair{"userPin", "x"},
          std::pair{"PWD", "x"}, std::pair{"jwt", "x"}})
      CHECK(looks_secret(name, value));
    for (const auto& [name, value] :
         {std::pair{"MODE", "fast"}, std::pair{"FILE", "/home/jo/memory-2026-11.jsonl"},
          std::pair{"API_KEY", ""}, std::pair{"TOKEN", "${env:TOKEN}"},
          std::pair{"TOKEN", "${env:T:-}"}, std::pair{"N", "12345"}, std::pair{"COMPASS_PATH", "x"},
          std::pair{"PING", "x"}})
      CHECK_FALSE(looks_secret(name, value));
  }

  TEST_CASE("variables reach mcpac in the client's own words") {
    for (const auto& [client, text] : {std::pair{"cursor", R"({"env":{"T":"${env:T}"}})"},
                                       std::pair{"claude-code", R"({"env":{"T":"${T}"}})"},
                                       std::pair{"gemini", R"({"env":{"T":"$T"}})"},
                                       std::pair{"codex", R"({"env_vars":["T"]})"}}) {
      OrderedJson entry = OrderedJson::object();
      give_variables(kind(client), {"T"}, entry);
      CHECK(entry.dump() == text);
    }
  }

  TEST_CASE("a file is written through its link, with the mode that it had") {
    const Home home;
    const auto real = home.write("dotfiles/mcp.json", "{\"mcpServers\": {}}\n", 0640);
    const auto link = home.folder.path() / "mcp.json";
    fs::create_symlink(real, link);
    auto file = ClientFile::open(kind("cursor"), link);
    REQUIRE(file.has_value());
    REQUIRE(file->put("mcpac", kEntry).has_value());
    REQUIRE(file->save().has_value());
    CHECK(fs::is_symlink(link));
    CHECK(mode_of(real) == 0640);
    CHECK(home.read(real).find("/bin/mcpac") != std::string::npos);
    fs::remove(real);
    CHECK_FALSE(ClientFile::open(kind("cursor"), link).has_value());
  }

  TEST_CASE("what cannot be read, is no file of ours alone, or changed meanwhile is not written") {
    const Home home;
    const auto path = home.write("mcp.json", "{\"mcpServers\": nonsense}\n");
    CHECK_FALSE(ClientFile::open(kind("cursor"), path).has_value());
    CHECK(home.read(path) == "{\"mcpServers\": nonsense}\n");
    home.write("mcp.json", "{\"mcpServers\": []}\n");
    CHECK_FALSE(ClientFile::open(kind("cursor"), path).has_value());
    CHECK_FALSE(ClientFile::open(kind("cursor"), home.folder.path()).has_value());
    home.write("mcp.json", "{}\n");
    fs::create_hard_link(path, home.folder.path() / "second");
    CHECK_FALSE(ClientFile::open(kind("cursor"), path).has_value());
    fs::remove(home.folder.path() / "second");
    auto file = ClientFile::open(kind("cursor"), path).value();
    REQUIRE(file.put("mcpac", kEntry).has_value());
    home.write("mcp.json", "{\"newer\": 1}\n");
    CHECK_FALSE(file.save().has_value());
    CHECK(home.read(path) == "{\"newer\": 1}\n");
    fs::remove(path);
    CHECK_FALSE(file.save().has_value());
    CHECK_FALSE(fs::exists(path));
  }

  TEST_CASE("undo gives back every byte, and no file where there was none") {
    const Home home;
    const std::string text = "{\n  // mine\n  \"mcpServers\": {\"a\": {\"command\": \"x\"},},\n}";
    const auto path = home.write("mcp.json", text, 0644);
    connect(home, path, {"a"});
    auto file = ClientFile::open(kind("cursor"), path).value();
    CHECK(file.servers().size() == 1);
    CHECK(home.read(home.records.backup_of(file)) == text);
    CHECK(mode_of(home.records.backup_of(file)) == 0600);
    connect(home, path, {}, {{"command", "/other/mcpac"}});  // twice is as once
    CHECK(undo(home, path));
    CHECK(home.read(path) == text);
    CHECK(mode_of(path) == 0644);
    const auto none = home.folder.path() / "new/mcp.json";
    connect(home, none);
    CHECK(mode_of(none) == 0600);
    CHECK(undo(home, none));
    CHECK_FALSE(fs::exists(none));
  }

  TEST_CASE("undo keeps what others wrote meanwhile, and gives moved servers back") {
    const Home home;
    const auto path =
        home.write("mcp.json", R"({"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}})");
    connect(home, path, {"a", "b"});
    std::string now = home.read(path);
    now.insert(1, "\"theme\": \"dark\", ");
    home.write("mcp.json", now);
    {
      auto file = ClientFile::open(kind("cursor"), path).value();
      REQUIRE(file.put("b", {{"command", "mine by now"}}).has_value());
      REQUIRE(file.save().has_value());
    }
    CHECK_FALSE(undo(home, path));
    const auto json = parse_json(home.read(path)).value();
    CHECK(json["theme"] == "dark");
    CHECK_FALSE(json["mcpServers"].contains("mcpac"));
    CHECK(json["mcpServers"]["a"]["command"] == "x");
    CHECK(json["mcpServers"]["b"]["command"] == "mine by now");
    CHECK_FALSE(home.records.find(ClientFile::open(kind("cursor"), path).value()).value());
  }

  TEST_CASE("undo leaves an entry of that name that is not mcpac any more") {
    const Home home;
    const auto path = home.write("mcp.json", R"({"mcpServers": {"a": {"command": "x"}}})");
    connect(home, path, {"a"});
    {
      auto file = ClientFile::open(kind("cursor"), path).value();
      REQUIRE(file.put("mcpac", {{"command", "another"}}).has_value());
      REQUIRE(file.save().has_value());
    }
    CHECK_FALSE(undo(home, path));
    const auto json = parse_json(home.read(path)).value();
    CHECK(json["mcpServers"]["mcpac"]["command"] == "another");
    CHECK(json["mcpServers"]["a"]["command"] == "x");
  }
}
