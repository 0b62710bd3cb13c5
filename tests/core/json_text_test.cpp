// Files of others: one member is set or removed, and nothing else changes.
#include "core/json_text.h"

#include <doctest/doctest.h>

using namespace mcpac;

namespace {

JsonText read(const std::string& text) {
  auto made = JsonText::parse(text, "file.json");
  REQUIRE_MESSAGE(made.has_value(), made.error().to_text());
  return std::move(*made);
}

const OrderedJson kEntry{{"command", "mcpac"}, {"args", {"serve"}}};

std::string after_set(const std::string& text) {
  auto file = read(text);
  const auto done = file.set("mcpServers", "mcpac", kEntry);
  REQUIRE_MESSAGE(done.has_value(), text);
  CHECK(file.value().at("mcpServers").at("mcpac") == kEntry);
  return file.text();
}

std::string after_remove(const std::string& text, const std::string& name) {
  auto file = read(text);
  const auto done = file.remove("s", name);
  REQUIRE_MESSAGE(done.has_value(), text);
  CHECK_FALSE(file.value().at("s").contains(name));
  return file.text();
}

}  // namespace

TEST_SUITE("core/json_text") {
  TEST_CASE("a member is added behind the others, in their manner") {
    CHECK(after_set(R"({
    "theme": "dark", // mine
    "mcpServers": {
        "a": {"command": "x"} // keep this
    },
    "last": 1
}
)") == R"({
    "theme": "dark", // mine
    "mcpServers": {
        "a": {"command": "x"}, // keep this
        "mcpac": {
            "command": "mcpac",
            "args": [
                "serve"
            ]
        }
    },
    "last": 1
}
)");
  }

  TEST_CASE("a comma that stands before the end stays before the end") {
    const std::string text = after_set("{\n\t\"mcpServers\": {\n\t\t\"a\": {}, /* x */\n\t},\n}\n");
    CHECK(text.starts_with("{\n\t\"mcpServers\": {\n\t\t\"a\": {}, /* x */\n\t\t\"mcpac\": {"));
    CHECK(text.ends_with("\n\t\t}\n\t},\n}\n"));
  }

  TEST_CASE("objects are made where there are none, also in empty and in blank files") {
    CHECK(after_set("{\"a\": 1}") ==
          R"({"a": 1, "mcpServers": {"mcpac":{"command":"mcpac","args":["serve"]}}})");
    for (const std::string text : {"", "\n", "{}", "{ }", "{\n}\n", "// nothing yet\n",
                                   "{\"mcpServers\": {}}", "{\n  // none\n}\n", "\xEF\xBB\xBF{}"})
      CHECK(after_set(text).find("\"serve\"") != std::string::npos);
    CHECK(after_set("// mine\n").starts_with("// mine\n"));
  }

  TEST_CASE("ends of lines stay what they are") {
    const std::string text = after_set("{\r\n  \"mcpServers\": {\r\n    \"a\": 1\r\n  }\r\n}\r\n");
    CHECK(text.find("\"a\": 1,\r\n    \"mcpac\": {\r\n") != std::string::npos);
    for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
      CHECK(text[at - 1] == '\r');
  }

  TEST_CASE("a member that is there gets another value, in its place") {
    const std::string before =
        "{\"mcpServers\": {\n  \"mcpac\": {\"old\": 1}, // ours\n  \"z\": 2}}";
    const std::string after = after_set(before);
    CHECK(after.find("}, // ours\n  \"z\": 2}}") != std::string::npos);
    CHECK(after_set(after) == after);
  }

  TEST_CASE("a removed member takes its line and its comma along, and no comment of others") {
    const std::string all =
        "{\"s\": {\n  \"a\": 1, // a\n  \"b\": {\"x\": [1, \"}\"]},\n  \"c\": 3\n}}";
    CHECK(after_remove(all, "b") == "{\"s\": {\n  \"a\": 1, // a\n  \"c\": 3\n}}");
    CHECK(after_remove(all, "c") ==
          "{\"s\": {\n  \"a\": 1, // a\n  \"b\": {\"x\": [1, \"}\"]}\n}}");
    CHECK(after_remove("{\"s\": {\"a\": 1}}", "a") == "{\"s\": {}}");
    CHECK(after_remove("{\"s\": {\"a\": 1, \"b\": 2}}", "a") == "{\"s\": { \"b\": 2}}");
    CHECK(after_remove("{\"s\": {\"a\": 1, \"b\": 2,}}", "b") == "{\"s\": {\"a\": 1, }}");
    CHECK(after_remove(all, "none") == all);
  }

  TEST_CASE("what is put and taken again leaves the file as it was") {
    for (const std::string text :
         {"{\n  \"mcpServers\": {\n    \"a\": 1\n  }\n}\n",
          "{\n\t\"mcpServers\": {\n\t\t\"a\": 1, // b\n\t}\n}", "{\"mcpServers\": {\"a\": 1}}"}) {
      auto file = read(text);
      REQUIRE(file.set("mcpServers", "mcpac", kEntry).has_value());
      CHECK(file.text() != text);
      REQUIRE(file.remove("mcpServers", "mcpac").has_value());
      CHECK(file.value() == read(text).value());
    }
  }

  TEST_CASE("what is no JSON, has a name twice or is no object is not taken") {
    for (const std::string text : {"{", "[]", "3", "{\"a\": 1, \"a\": 2}", "{\"a\": 1 \"b\": 2}",
                                   "{/* }", "{'a': 1}", "{\"a\": 1,, }", "nonsense"}) {
      const auto file = JsonText::parse(text, "file.json");
      CHECK_MESSAGE(!file.has_value(), text);
    }
    auto other = read("{\"mcpServers\": [1]}");
    CHECK_FALSE(other.set("mcpServers", "mcpac", kEntry).has_value());
    CHECK(other.text() == "{\"mcpServers\": [1]}");
  }

  TEST_CASE("marks of comments in texts are texts") {
    const std::string text = R"({"url": "https://x/*y*/", "mcpServers": {"a": "// no, {}"}})";
    CHECK(after_set(text).starts_with(text.substr(0, text.size() - 2)));
  }

  TEST_CASE("what is shown has no value and no comment but those of the one member") {
    auto file = read(R"({
  "token": "s3cr3t", // also s3cr3t
  "pin": 1234, /* s3cr3t */
  "mcpServers": {"a": {"env": {"K": "s3cr3t \" s3cr3t"}}}
})");
    REQUIRE(file.set("mcpServers", "mcpac", kEntry).has_value());
    const std::string shown = file.masked("mcpServers", "mcpac");
    CHECK(shown.find("s3cr3t") == std::string::npos);
    CHECK(shown.find("1234") == std::string::npos);
    CHECK(shown.find("\"env\"") != std::string::npos);
    CHECK(shown.find("\"serve\"") != std::string::npos);
    auto own = kEntry;
    own["env"]["TOKEN"] = "s3cr3t";
    own["last"] = "seen";
    REQUIRE(file.set("mcpServers", "mcpac", own).has_value());
    CHECK(file.masked("mcpServers", "mcpac").find("s3cr3t") == std::string::npos);
    CHECK(file.masked("mcpServers", "mcpac").find("\"seen\"") != std::string::npos);
  }
}
