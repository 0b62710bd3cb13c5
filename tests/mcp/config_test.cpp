#include <doctest/doctest.h>
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "mcp/placeholders.h"
#include "mcp/server_config.h"

using namespace mcpac;

namespace {

Result<mcp::Config> parse(std::string_view server) {
  return mcp::parse_config(fmt::format(R"({{"mcpServers": {{"s": {}}}}})", server), "mcpac.json");
}

Error error_of(const Result<mcp::Config>& result) {
  REQUIRE_FALSE(result.has_value());
  return result.error();
}

}  // namespace

TEST_SUITE("mcp/config") {
  TEST_CASE("a configuration of other clients loads as it is") {
    const auto config = mcp::parse_config(R"({
      "theme": "dark",
      "mcpServers": {
        "web": {"type": "streamable-http", "url": "https://example.com/mcp",
                "headers": {"Authorization": "Bearer ${env:TOKEN}"}, "alwaysAllow": ["x"]},
        "files": {"command": "npx", "args": ["-y", "server", "/tmp/a b"], "env": {"A": "1"},
                  "autoApprove": [], "disabled": true, "description": "d", "icon": "i",
                  "disabledTools": ["y"], "gallery": true, "version": "1", "timeout": 5000,
                  "cwd": "/tmp", "root": "/data", "era": "initialize"}
      }})",
                                          "mcpac.json");
    REQUIRE(config.has_value());
    REQUIRE(config->servers.size() == 2);
    const auto& files = config->servers[0];
    CHECK(files.name == "files");
    CHECK(files.arguments == std::vector<std::string>{"-y", "server", "/tmp/a b"});
    CHECK(files.environment.at("A") == "1");
    CHECK(files.timeout == std::chrono::milliseconds(5000));
    CHECK(files.disabled);
    CHECK(files.era == mcp::Era::kInitialize);
    CHECK(files.root == "/data");
    CHECK(files.identity() == "npx -y server '/tmp/a b'");
    const auto* web = config->find("web");
    REQUIRE(web != nullptr);
    CHECK(web->is_http());
    CHECK(web->headers.at("Authorization") == "Bearer ${env:TOKEN}");
    CHECK(web->identity() == "https://example.com/mcp");
    CHECK(config->find("other") == nullptr);
  }

  TEST_CASE("texts of a server are strict unless the entry says that the locked ones hold") {
    CHECK(parse(R"({"command":"c"})")->servers[0].texts == mcp::Texts::kStrict);
    CHECK(parse(R"({"command":"c","texts":"strict"})")->servers[0].texts == mcp::Texts::kStrict);
    CHECK(parse(R"({"url":"http://h/","texts":"locked"})")->servers[0].texts ==
          mcp::Texts::kLocked);
    for (const char* text : {R"("Locked")", R"("")", "true", "null"}) {
      CAPTURE(text);
      CHECK_FALSE(parse(fmt::format(R"({{"command":"c","texts":{}}})", text)));
    }
  }

  TEST_CASE("a sandbox is true, false or places, goes with a command, and has no other member") {
    const auto sandbox_of = [](const std::string& value) {
      auto config = parse(R"({"command":"c","sandbox":)" + value + "}");
      REQUIRE(config.has_value());
      const auto again = parse(to_text(mcp::to_json(config->servers[0])));
      REQUIRE(again.has_value());
      CHECK(again->servers[0].sandbox == config->servers[0].sandbox);
      return config->servers[0].sandbox;
    };
    CHECK_FALSE(parse(R"({"command":"c"})")->servers[0].sandbox.has_value());
    CHECK_FALSE(sandbox_of("false").has_value());
    CHECK(sandbox_of("true") == mcp::Confinement());
    CHECK(sandbox_of("{}") == mcp::Confinement());
    CHECK(sandbox_of(R"({"files":["./data:rw","/srv/x"]})")->files ==
          std::vector<std::string>{"./data:rw", "/srv/x"});
    CHECK(sandbox_of(R"({"memory":"512MB"})")->memory == 512'000'000);
    CHECK(sandbox_of(R"({"files":["a"],"memory":"1 GB"})")->memory == 1'000'000'000);
    CHECK(sandbox_of(R"({"memory":"16000001"})")->memory == 16'000'001);
    CHECK(sandbox_of(R"({"share":"client"})")->share == mcp::Share::kClient);
    CHECK(sandbox_of(R"({"files":["a"],"share":"client"})")->share == mcp::Share::kClient);
    CHECK(sandbox_of("true")->share == mcp::Share::kAll);
    const auto both =
        sandbox_of(R"({"files":["./data"],"network":["a.example:443","10.0.0.0/8:*"]})");
    CHECK(both->files == std::vector<std::string>{"./data"});
    CHECK(both->network == std::vector<std::string>{"a.example:443", "10.0.0.0/8:*"});
    CHECK(sandbox_of(R"({"network":["any"]})")->network == std::vector<std::string>{"any"});
    for (const auto& [value, said] : std::vector<std::pair<std::string, std::string>>{
             {"3", "true, false"},
             {R"({"memory":512})", "sandbox.memory"},
             {R"({"share":"all"})", "sandbox.share"},
             {R"({"share":true})", "sandbox.share"},
             {R"({"memory":"0"})", "at least 16MB"},
             {R"({"memory":"512 Mb"})", "KB, MB or GB"},
             {R"({"memory":"5 1 2MB"})", "KB, MB or GB"},
             {R"({"memory":"-1GB"})", "KB, MB or GB"},
             {R"({"memory":"99999999GB"})", "KB, MB or GB"},
             {R"({"memry":"1GB"})", "did you mean \"memory\"?"},
             {R"("files")", "true, false"},
             {R"({"file":[]})", "did you mean \"files\"?"},
             {R"({"networks":[]})", "did you mean \"network\"?"},
             {R"({"network":"a.example:443"})", "mcpServers.s.sandbox.network"},
             {R"({"files":"data"})", "mcpServers.s.sandbox.files"},
             {R"({"files":[3]})", "mcpServers.s.sandbox.files"},
             {R"({"files":["${workspaceFolder}/x"]})", "mcpServers.s.sandbox.files[0]"},
             {R"({"files":["~/x"]})", "sandbox.files[0]"}}) {
      CAPTURE(value);
      const auto error = error_of(parse(R"({"command":"c","sandbox":)" + value + "}"));
      CHECK(error.id == ErrorId::kConfigInvalid);
      CHECK(error.to_text().contains(said));
    }
    CHECK(error_of(parse(R"({"url":"http://h/","sandbox":true})")).what.contains("goes with"));
  }

  TEST_CASE("what is written back reads as the same") {
    for (
        const auto* text :
        {R"({"command":"c","args":["a"],"env":{"K":"v"},"cwd":"/","timeout":"7ms","root":"r","disabled":true,"texts":"locked","era":"2026-07-28"})",
         R"({"type":"http","url":"http://localhost/","headers":{"X":"y"}})"}) {
      const auto first = parse(text);
      REQUIRE(first.has_value());
      CHECK(to_text(mcp::to_json(first->servers[0])) == text);
    }
  }

  TEST_CASE("identity quotes so that two command lines never look alike") {
    mcp::ServerConfig one;
    one.command = "a";
    one.arguments = {"b c"};
    mcp::ServerConfig two;
    two.command = "a";
    two.arguments = {"b", "c"};
    CHECK(one.identity() != two.identity());
    one.arguments = {"it's"};
    CHECK(one.identity() == R"(a 'it'\''s')");
  }

  TEST_CASE("the lock gets of an entry what starts it, with references and digests, no secrets") {
    const auto entry = [](const std::string& members) {
      return mcp::parse_config(R"({"mcpServers": {"x": {)" + members + "}}}", "mcpac.json")
          .value()
          .servers.front()
          .entry();
    };
    CHECK(entry(R"("command": "x")") == OrderedJson::object());
    CHECK(entry(R"("command": "x", "cwd": "./y", "env": {"PATH": "/opt/bin", "NODE_OPTIONS":
                   "-r ./z.js", "TOKEN": "${env:TOKEN}", "FILE": "${file:./t}"})") ==
          OrderedJson{{"cwd", "./y"},
                      {"env",
                       {{"FILE", "${file:./t}"},
                        {"NODE_OPTIONS", "-r ./z.js"},
                        {"PATH", "/opt/bin"},
                        {"TOKEN", "${env:TOKEN}"}}}});
    // What may be a secret is a digest: another value, another text.
    for (const std::string value :
         {"sk-12345", "Bearer ${env:TOKEN}", "${env:TOKEN:-sk-12345}", "${env:A}sk${env:B}"}) {
      CAPTURE(value);
      const auto of_variable = entry(R"("command": "x", "env": {"KEY": ")" + value + R"("})");
      const auto of_header =
          entry(R"("url": "https://a.example", "headers": {"Key": ")" + value + R"("})");
      for (const OrderedJson& text : {of_variable["env"]["KEY"], of_header["headers"]["Key"]}) {
        CHECK(text.get<std::string>().starts_with("sha256:"));
        CHECK(text.get<std::string>().size() == 39);
        CHECK(text != entry(R"("command": "x", "env": {"KEY": "other"})")["env"]["KEY"]);
      }
      CHECK(entry(R"("command": "x", "env": {"KEY": ")" + value + R"("})") == of_variable);
    }
    CHECK(entry(R"("command": "x", "sandbox": true)") ==
          OrderedJson{{"sandbox", OrderedJson::object()}});
    CHECK(entry(R"("command": "x", "sandbox": {"files": ["./a:rw"]})") ==
          OrderedJson{{"sandbox", {{"files", {"./a:rw"}}}}});
    CHECK(entry(R"("command": "x", "sandbox": false)") == OrderedJson::object());
    const auto named = mcp::parse_config(
        R"({"mcpServers": {"x": {"command": "x", "manifest": "./claims.json"}}})", "mcpac.json");
    REQUIRE(named);
    CHECK(named->servers[0].manifest == "./claims.json");
    CHECK(mcp::to_json(named->servers[0])["manifest"] == "./claims.json");
  }

  TEST_CASE("a syntax error has line and column") {
    const auto error = error_of(mcp::parse_config("{\n  \"mcpServers\": {,}\n}", "mcpac.json"));
    CHECK(error.id == ErrorId::kConfigSyntax);
    CHECK(error.where == "mcpac.json:2:18");
    CHECK(error_of(mcp::parse_config(R"({"mcpServers":{},"mcpServers":{}})", "f")).id ==
          ErrorId::kConfigSyntax);
  }

  TEST_CASE("an unknown member is refused with what was meant") {
    const auto error = error_of(parse(R"({"comand": "x"})"));
    CHECK(error.id == ErrorId::kConfigInvalid);
    CHECK(error.where == "mcpac.json: mcpServers.s.comand");
    CHECK(error.fix == "did you mean \"command\"?");
    CHECK(error_of(parse(R"({"command":"x","qqqqqq":1})")).fix.starts_with("known are: type"));
  }

  TEST_CASE("the forms of other clients are refused with how they are written here") {
    CHECK(error_of(parse(R"({"command": ["node", "a.mjs", "-x"]})")).fix ==
          R"(write "command":"node","args":["a.mjs","-x"])");
    CHECK(error_of(parse(R"({"command": "node", "args": " a.mjs  -x"})")).fix ==
          R"(write "args": ["a.mjs","-x"])");
    CHECK(error_of(mcp::parse_config(R"({"servers": {}})", "f")).fix ==
          R"(write "mcpServers" where it has "servers")");
    CHECK(error_of(mcp::parse_config(R"({"mcpServer": {}})", "f")).fix.contains("\"mcpServer\""));
    CHECK(error_of(mcp::parse_config("{ // mine\n}", "f")).fix.contains("no comments"));
  }

  TEST_CASE("values of the wrong kind are refused at their place") {
    for (const auto* text : {R"({"command": 5})",
                             R"({"command": ""})",
                             R"({"command":"x","args":"y"})",
                             R"({"command":"x","args":[1]})",
                             R"({"command":"x","env":{"PORT":80}})",
                             R"({"command":"x","env":{"A=B":"c"}})",
                             R"({"command":"x","timeout":0})",
                             R"({"command":"x","timeout":"5"})",
                             R"({"command":"x","timeout":1e300})",
                             R"({"command":"x","disabled":"no"})",
                             R"({"command":"x","era":"1999"})",
                             "{\"command\":\"x\\u0000y\"}",
                             R"({"command":"x","url":"http://a/"})",
                             "{}",
                             "[]",
                             R"({"command":"x","headers":{"A":"b"}})",
                             R"({"url":"http://a/","args":["x"]})",
                             R"({"url":"ftp://a/"})",
                             R"({"url":"http://a/","headers":{"A B":"c"}})",
                             "{\"url\":\"http://a/\",\"headers\":{\"A\":\"b\\r\\nC: d\"}}",
                             R"({"url":"http://a/","headers":{"Mcp-Session-Id":"x"}})",
                             R"({"url":"http://a/","type":"stdio"})",
                             R"({"command":"x","type":"http"})",
                             R"({"command":"x","type":"ws"})",
                             R"({"command":"x","envFile":".env"})"}) {
      CAPTURE(text);
      CHECK(error_of(parse(text)).id == ErrorId::kConfigInvalid);
    }
  }

  TEST_CASE("what another client would replace never goes to a server as text") {
    struct Case {
      const char* entry;
      const char* what;  // of the message
      const char* fix;
    };
    for (const Case& one : std::vector<Case>{
             {R"({"command":"x","env":{"K":"${API_KEY}"}})", "env.K holds ${API_KEY}",
              "${env:API_KEY}"},
             {R"({"command":"x","args":["-v","${X:-default}"]})", "args[1] holds ${X:-default}",
              "${env:X}"},
             {R"({"command":"x","args":["${X:-y}/a"]})", "${X:-y}", "${env:X:-…}"},
             {R"({"command":"x","args":["${env:X:-${env:Y}}"]})", "${env:X:-${env:Y}", "${env:X}"},
             {R"({"command":"x","args":["${env:X:?y}"]})", "${env:X:?y}", "${env:X:-TEXT}"},
             {R"({"command":"x","args":["${X:+y}"]})", "${X:+y}", "${env:X:-TEXT}"},
             {R"({"command":"x","args":["${env:X-y}"]})", "${env:X-y}", "${env:X:-TEXT}"},
             {R"({"command":"x","args":["${env:1:-y}"]})", "${env:1:-y}", "${env:NAME}"},
             {R"({"command":"x","args":["--root=${workspaceFolder}/a"]})", "${workspaceFolder}",
              "the folder's path"},
             {R"({"command":"x","env":{"K":"${input:key}"}})", "${input:key}", "${file:PATH}"},
             {R"({"command":"x","args":["${userHome}/a"]})", "${userHome}", "${env:HOME}"},
             {R"({"command":"x","env":{"K":"${{ secrets.K }}"}})", "${{ secrets.K }}", "${env:"},
             {R"({"command":"x","env":{"K":"${user_config.key}"}})", "${user_config.key}",
              "${env:"},
             {R"({"command":"x","env":{"K":"{env:K}"}})", "{env:K}", "${env:K}"},
             {R"({"command":"x","args":["%USERPROFILE%/a"]})", "%USERPROFILE%", "${env:HOME}"},
             {R"({"command":"x","args":["C:\\Users\\jo"]})", "a path of Windows", "/mnt/c/"},
             {R"({"command":"x","args":["--dir=D:/data"]})", "a path of Windows", "/mnt/c/"},
             {R"({"command":"x","env":{"D":"\\\\host\\share"}})", "a path of Windows", "/mnt/c/"},
             {R"({"command":"~/bin/x"})", "command holds ~", "${env:HOME}"},
             {R"({"command":"$HOME/bin/x"})", "command holds $HOME", "${env:HOME}"},
             {R"({"command":"x","cwd":"~"})", "cwd holds ~", "${env:HOME}"},
             {R"({"command":"x","root":"~/a"})", "root holds ~", "the whole path"},
             {R"({"command":"x","sandbox":{"files":["~/a:rw"]}})", "sandbox.files[0] holds ~",
              "write \"${env:HOME}/a:rw\""},
             {R"({"command":"x","sandbox":{"files":["~:rw"]}})", "sandbox.files[0] holds ~",
              "name folders in it"},
             {R"({"url":"https://a.example/${TENANT}"})", "url holds ${TENANT}", "${env:TENANT}"},
             {R"({"url":"http://a/","headers":{"Authorization":"Bearer $TOKEN"}})",
              "headers.Authorization holds $TOKEN", "${env:TOKEN}"},
             {R"({"url":"http://a/","headers":{"X":"${TOKEN}"}})", "${TOKEN}", "${env:TOKEN}"},
             {R"({"url":"https://a/","auth":{"clientId":"${ID}"}})", "${ID}", "${env:ID}"},
             {R"({"command":"cmd","args":["/c","npx","-y","x"]})", "the shell of Windows",
              "\"npx\""},
             {R"({"command":"cmd.exe","args":["/C","npx.cmd","x"]})", "the shell of Windows",
              "\"npx\""},
             {R"({"command":"npx.cmd"})", "a program of Windows", "\"npx\""},
             {R"({"command":"powershell","args":["-File","x.ps1"]})", "a shell of Windows", "pwsh"},
             {R"({"command":"C:\\Program Files\\nodejs\\node.exe"})", "a program of Windows",
              "\"node\""},
             {R"({"command":"/opt/homebrew/bin/npx"})", "a program of macOS", "\"npx\""}}) {
      CAPTURE(one.entry);
      const auto error = error_of(parse(one.entry));
      CHECK(error.id == ErrorId::kConfigInvalid);
      CHECK(error.where.starts_with("mcpac.json: mcpServers.s."));
      CHECK_MESSAGE(error.what.contains(one.what), error.what);
      CHECK_MESSAGE(error.fix.contains(one.fix), error.fix);
    }
    // What a server's own words look like, and how a text says ${.
    for (
        const char* entry :
        {R"({"command":"sh","args":["-c","cd ~ && exec ${X:-node} $Y"]})",
         R"({"command":"docker","args":["run","i","bash","-lc","echo ${X}"]})",
         R"({"command":"ssh","args":["host","~/bin/server","${X}"]})",
         R"({"command":"x","args":["$${name}-$5","^a$","$2b$10$x","~/notes","%H%M%S","$ORIGIN"]})",
         R"({"command":"x","args":["${env:X:-y}","${env:X:-}","--to=${env:X:-https://a/b:8}/c"]})",
         R"({"command":"x","args":["a:/b","@scope/x","\\d+","{\"env\":1}","${env:A}","${file:/a}"]})",
         R"({"url":"https://a/%E2%80%99$metadata?x=~jo","headers":{"X":"pa$word ~"}})",
         R"({"command":"/mnt/c/x/tool.exe","env":{"PASSWORD":"a$B","RE":"a{2}"}})"}) {
      CAPTURE(entry);
      CHECK_MESSAGE(parse(entry).has_value(), parse(entry).error().to_text());
    }
  }

  TEST_CASE("what is left to the server, and looks like a placeholder, is said") {
    const auto said = mcp::left_as_text(
        "x", {"~/notes", "--dir=~", "a~b", "$HOME/y", "5$", "^a$", "pa$WORD", "~jo"},
        {{"A", "~/b"}, {"PASSWORD", "$ECRET"}, {"C", "plain"}});
    CHECK(said ==
          std::vector<std::string>{
              "args[0]: ~ goes to the server as it stands; ${env:HOME} stands for the home folder",
              "args[1]: ~ goes to the server as it stands; ${env:HOME} stands for the home folder",
              "args[3]: $HOME goes to the server as it stands; ${env:HOME} stands for a variable",
              "env.A: ~ goes to the server as it stands; ${env:HOME} stands for the home folder",
              "env.PASSWORD: $NAME goes to the server as it stands; ${env:NAME} stands for a "
              "variable"});
    CHECK(mcp::left_as_text("sh", {"-c", "cd ~ && $RUN"}, {}).empty());
  }

  TEST_CASE("a time is written with its unit, or in milliseconds that cannot be seconds") {
    for (const auto& [text, time] :
         {std::pair(R"("30s")", 30'000), std::pair(R"("500ms")", 500),
          std::pair(R"("2m")", 120'000), std::pair(R"("2 min")", 120'000),
          std::pair(R"("24h")", 86'400'000), std::pair("1000", 1'000),
          std::pair("86400000", 86'400'000)}) {
      CAPTURE(text);
      const auto parsed = parse(fmt::format(R"({{"command":"x","timeout":{}}})", text));
      REQUIRE(parsed);
      CHECK(parsed->servers[0].timeout == std::chrono::milliseconds(time));
    }
    const auto bare = error_of(parse(R"({"command":"x","timeout":30})"));
    CHECK(bare.what.contains("may be seconds or milliseconds"));
    CHECK(bare.fix == R"(write "30s" or "30ms")");
    for (const char* text : {"1", "999", "86400001", "-5", "2.5", R"("30")", R"("s")", R"("0s")",
                             R"("25h")", R"("1d")", R"("9999999999999999999s")", R"("5 s ")"}) {
      CAPTURE(text);
      CHECK_FALSE(
          error_of(parse(fmt::format(R"({{"command":"x","timeout":{}}})", text))).fix.empty());
    }
  }

  TEST_CASE("the old SSE transport is refused with the way out") {
    const auto error = error_of(parse(R"({"type":"sse","url":"http://a/sse"})"));
    CHECK(error.what.find("HTTP+SSE") != std::string::npos);
    CHECK(error.fix.find("Streamable HTTP") != std::string::npos);
  }

  TEST_CASE("a server's name must be fit for a permission") {
    CHECK(error_of(mcp::parse_config(R"({"mcpServers":{"a.b":{"command":"x"}}})", "f")).id ==
          ErrorId::kConfigInvalid);
    CHECK(error_of(mcp::parse_config(R"({"servers":{}})", "f")).id == ErrorId::kConfigInvalid);
    CHECK(error_of(mcp::parse_config("[]", "f")).id == ErrorId::kConfigInvalid);
  }
}
