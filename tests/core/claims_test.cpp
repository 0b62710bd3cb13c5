#include "core/claims.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpac;

namespace {

Claims read(const std::string& json) {
  return read_claims(OrderedJson::parse(json));
}

std::vector<std::string> words(const Claims& claims) {
  std::vector<std::string> all;
  for (const Claim& claim : claims.list) all.push_back(text_of(claim));
  return all;
}

}  // namespace

TEST_SUITE("core/claims") {
  TEST_CASE("effects in mcpac's words and AgentBound's are read, and said in plain ones") {
    struct Case {
      std::string json;
      std::string said;
    };
    for (const auto& [json, said] : std::vector<Case>{
             {R"({"effect": "NetRead", "host": "api.github.com:443", "required": true})",
              "network api.github.com:443 (required)"},
             {R"({"effect": "NetWrite", "argument": "url"})",
              "network what its argument \"url\" names (optional)"},
             {R"({"permission": "mcp.ac.network.client", "host": "https://Engine.Lingo.dev/v1"})",
              "network engine.lingo.dev:443 (optional)"},
             {R"({"permission": "mcp.ac.network.client", "host": "http://a.example:8080"})",
              "network a.example:8080 (optional)"},
             {R"({"effect": "NetRead", "host": "[fd00::/8]:*"})",
              "network [fd00::/8]:* (optional)"},
             {R"("mcp.ac.filesystem.read")", "reads files (optional)"},
             {R"({"effect": "FsRead", "path": "data", "required": true})",
              "reads ./data (required)"},
             {R"({"permission": "mcp.ac.filesystem.delete", "path": "~/.cache/x",
                  "reason": "a cache"})",
              "writes ~/.cache/x (optional)"},
             {R"({"effect": "FsWrite", "argument": "path", "tool": "write_file"})",
              "write_file: writes what its argument \"path\" names (optional)"},
             {R"({"effect": "Exec", "program": "git"})", "starts git (optional)"},
             {R"({"effect": "EnvRead", "variable": "GITHUB_TOKEN", "required": true})",
              "variable GITHUB_TOKEN (required)"},
             {R"("mcp.ac.peripheral.camera")", "mcp.ac.peripheral.camera (optional)"},
             {R"("DbRead")", "DbRead (optional)"},
         }) {
      CAPTURE(json);
      const Claims claims = read("[" + json + "]");
      CHECK(claims.dropped.empty());
      CHECK(words(claims) == std::vector{said});
      // What the lock keeps is read as the same.
      CHECK(read_claims(to_json(claims.list)).list == claims.list);
    }
  }

  TEST_CASE("a malformed claim is dropped, told once in printable words, and costs no other") {
    for (const std::string entry : {
             R"(1)",
             R"(null)",
             R"(["NetRead"])",
             R"("NetRaed")",
             R"("mcp.ac.")",
             R"("mcp.ac.\u001b[31m")",
             R"({})",
             R"({"effect": 1})",
             R"({"effect": "NetRead", "permission": "NetRead"})",
             R"({"effect": "NetRead", "required": "yes"})",
             R"({"effect": "NetRead", "hosts": "a.example"})",
             R"({"effect": "NetRead", "path": "./x"})",
             R"({"effect": "NetRead", "host": 1})",
             R"({"effect": "NetRead", "host": ""})",
             R"({"effect": "NetRead", "host": "a b:443"})",
             R"({"effect": "NetRead", "host": "a.example:0"})",
             R"({"effect": "NetRead", "host": "a.example:65536"})",
             R"({"effect": "NetRead", "host": "[fd00::1"})",
             R"({"effect": "NetRead", "host": "[]:443"})",
             R"({"effect": "NetRead", "host": "a.example:443", "argument": "url"})",
             R"({"effect": "FsRead", "path": "../secret"})",
             R"({"effect": "FsRead", "path": "a/../../b"})",
             R"({"effect": "FsRead", "path": "~root/x"})",
             R"({"effect": "FsRead", "path": ""})",
             R"({"effect": "FsRead", "path": "a\nb"})",
             R"({"effect": "FsRead", "path": "a\u202eb"})",
             R"({"effect": "FsRead", "path": "\u001b[2Ja"})",
             R"({"effect": "Exec", "program": "a\u0000b"})",
             R"({"effect": "EnvRead", "variable": "A=B"})",
             R"({"effect": "EnvRead", "variable": "1A"})",
             R"({"effect": "FsRead", "argument": "a\u200bb"})",
             R"({"effect": "FsRead", "tool": "\u001b]0;x\u0007"})",
             R"({"effect": "DbRead", "path": "./x"})",
         }) {
      CAPTURE(entry);
      const Claims claims = read("[" + entry + R"(, {"effect": "Exec", "program": "git"}])");
      CHECK(words(claims) == std::vector<std::string>{"starts git (optional)"});
      REQUIRE(claims.dropped.size() == 1);
      CHECK(claims.dropped[0].starts_with("entry 0 of what it says that it needs is left out: "));
      for (const char c : claims.dropped[0]) CHECK((static_cast<unsigned char>(c) >= 0x20));
      CHECK(claims.dropped[0].find("\xe2\x80\xae") == std::string::npos);
    }
    const std::string long_path(2'000, 'a');
    CHECK(read(R"([{"effect": "FsRead", "path": ")" + long_path + R"("}])").list.empty());
    for (const std::string value : {R"({})", R"("NetRead")", R"(7)"}) {
      CHECK(read(value).list.empty());
      CHECK(read(value).dropped.size() == 1);
    }
  }

  TEST_CASE("what is said at length is bounded, and so is what is told of it") {
    OrderedJson many = OrderedJson::array();
    for (int i = 0; i < 10'000; ++i)
      many.push_back({{"effect", "FsRead"}, {"path", "./" + std::to_string(i)}});
    const Claims claims = read_claims(many);
    CHECK(claims.list.size() == 256);
    CHECK(claims.dropped.size() == 1);
    CHECK(text_of(claims.list).ends_with("; 248 more"));

    const Claims bad = read_claims(OrderedJson(std::vector<std::string>(10'000, "nothing")));
    CHECK(bad.dropped.size() == 9);
    CHECK(bad.dropped.back() == "9992 more are left out as well");
  }

  TEST_CASE("order and repetition make no other claims") {
    const Claims one = read(R"(["Exec", "EnvRead", "Exec"])");
    const Claims other = read(R"(["EnvRead", {"effect": "Exec", "required": false}])");
    CHECK(one.list == other.list);
    CHECK(one.list.size() == 2);
  }

  TEST_CASE("a manifest has effects or permissions, and is about all tools or one") {
    const Claims claims = read_manifest(
        R"({"name": "x", "description": "Reads.", "registry": "npm", "permissions":
            ["mcp.ac.filesystem.read"], "effects": [{"effect": "Exec", "tool": "run"}]})");
    CHECK(claims.dropped.empty());
    CHECK(text_of(claims_about(claims.list, "run")) ==
          "says it needs: run: starts programs (optional); reads files (optional)");
    CHECK(text_of(claims_about(claims.list, "other")) == "says it needs: reads files (optional)");
    for (const std::string text : {"", "[]", "{}", "{\"effects\": {}}", "{\"effects\": [}",
                                   "\x1b[31m", R"({"effects": [], "effects": []})"}) {
      CAPTURE(text);
      const Claims none = read_manifest(text);
      CHECK(none.list.empty());
      REQUIRE(none.dropped.size() == 1);
      CHECK(none.dropped[0].find('\x1b') == std::string::npos);
    }
  }

  TEST_CASE("a tool speaks of itself alone, and only its well-formed claims are kept") {
    OrderedJson tool = OrderedJson::parse(
        R"({"name": "t", "_meta": {"a": 1, "io.mcpac/effects": [{"effect": "Exec", "tool": "u"}, 7]}})");
    const Claims claims = claims_of_tool(tool);
    CHECK(words(claims) == std::vector<std::string>{"starts programs (optional)"});
    write_claims(tool, claims.list);
    CHECK(tool["_meta"].dump() ==
          R"({"a":1,"io.mcpac/effects":[{"effect":"Exec","required":false}]})");
    write_claims(tool, {});
    CHECK(tool["_meta"].dump() == R"({"a":1})");
    for (const std::string odd :
         {R"(7)", R"({"_meta": 1})", R"({"_meta": {}})", R"({"name": "t"})"})
      CHECK(claims_of_tool(OrderedJson::parse(odd)).list.empty());
  }
}
