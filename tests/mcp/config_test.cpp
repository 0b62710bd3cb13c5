#include <doctest/doctest.h>
#include <fmt/format.h>

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

  TEST_CASE("what is written back reads as the same") {
    for (
        const auto* text :
        {R"({"command":"c","args":["a"],"env":{"K":"v"},"cwd":"/","timeout":7,"root":"r","disabled":true,"texts":"locked","era":"2026-07-28"})",
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
