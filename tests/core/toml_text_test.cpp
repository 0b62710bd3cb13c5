// TOML files of others: what is read, and one table in them.
#include "core/toml_text.h"

#include <doctest/doctest.h>

using namespace mcpac;

namespace {

TomlText read_toml(const std::string& text) {
  auto made = TomlText::parse(text, "config.toml");
  REQUIRE_MESSAGE(made.has_value(), made.error().to_text());
  return std::move(*made);
}

const OrderedJson kServerEntry{{"command", "/bin/mcpac"},
                               {"args", {"serve", "--ask", "a \"b\" \\ c"}},
                               {"env", {{"A.B", "1"}}}};

const std::string kFile = R"(# mine
model = "o"   # which
notes = """
two
lines"""

[mcp_servers.github]
command = "npx"
args = [
  "-y", # yes
  'a\b',
]
startup_timeout_sec = 20

[mcp_servers.github.env]
TOKEN = "s3cr3t"

# about profiles
[profiles.fast]
effort = "low"
)";

}  // namespace

TEST_SUITE("core/toml_text") {
  TEST_CASE("the values of a file are read") {
    const OrderedJson value = read_toml(kFile).value();
    CHECK(value["model"] == "o");
    CHECK(value["notes"] == "two\nlines");
    CHECK(value["mcp_servers"]["github"]["args"] == OrderedJson{"-y", "a\\b"});
    CHECK(value["mcp_servers"]["github"]["startup_timeout_sec"] == 20);
    CHECK(value["mcp_servers"]["github"]["env"]["TOKEN"] == "s3cr3t");
    const OrderedJson more =
        read_toml(
            "a.b = {c = 1, 'd e' = [true, {x = -2.5}]}\n\"q\" = \"\\u00e9\\t\"\n"
            "t = 1979-05-27T07:32:00Z\n[[l]]\nn = 1\n[[l]]\nn = 2\n[l.m]\no = 3")
            .value();
    CHECK(more["a"]["b"]["d e"][1]["x"] == -2.5);
    CHECK(more["q"] == "é\t");
    CHECK(more["t"] == "1979-05-27T07:32:00Z");
    CHECK(more["l"][1]["m"]["o"] == 3);
  }

  TEST_CASE("a table with very many values is read once through, in the order of the file") {
    constexpr int kValues = 200'000;
    std::string text;
    for (int i = kValues; i > 0; --i) text += "a" + std::to_string(i) + "=1\n";
    const OrderedJson value = read_toml(text).value();
    REQUIRE(value.size() == kValues);
    CHECK(value.begin().key() == "a200000");
    CHECK(value["a1"] == 1);
  }

  TEST_CASE("a table is put at the end, in its place the second time, and taken again") {
    auto file = read_toml(kFile);
    REQUIRE(file.set("mcp_servers", "mcpac", kServerEntry).has_value());
    CHECK(file.text().starts_with(kFile));
    CHECK(file.value()["mcp_servers"]["mcpac"] == kServerEntry);
    const std::string once = file.text();
    REQUIRE(file.set("mcp_servers", "mcpac", kServerEntry).has_value());
    CHECK(file.text() == once);
    REQUIRE(file.set("mcp_servers", "github", kServerEntry).has_value());
    CHECK(file.value()["mcp_servers"]["github"] == kServerEntry);
    CHECK(file.text().find("\n# about profiles\n[profiles.fast]\n") != std::string::npos);
    REQUIRE(file.remove("mcp_servers", "mcpac").has_value());
    REQUIRE(file.remove("mcp_servers", "none").has_value());
    CHECK_FALSE(file.value()["mcp_servers"].contains("mcpac"));
  }

  TEST_CASE("a removed table takes the tables below it along, and no comment of others") {
    auto file = read_toml(kFile);
    REQUIRE(file.remove("mcp_servers", "github").has_value());
    CHECK(file.text().find("s3cr3t") == std::string::npos);
    CHECK(file.text().find("npx") == std::string::npos);
    CHECK(file.text().find("# mine\nmodel = \"o\"   # which\n") == 0);
    CHECK(file.text().find("# about profiles\n[profiles.fast]") != std::string::npos);
    CHECK_FALSE(file.value().contains("mcp_servers"));
  }

  TEST_CASE("tables that are written in another way are left alone") {
    for (const std::string text :
         {"mcp_servers = {mcpac = {command = 'x'}}\n", "[mcp_servers]\nmcpac = {command = 'x'}\n",
          "[mcp_servers]\nmcpac.command = 'x'\n", "mcp_servers.mcpac.command = 'x'\n"}) {
      auto file = read_toml(text);
      CHECK_MESSAGE(!file.set("mcp_servers", "mcpac", kServerEntry).has_value(), text);
      CHECK_FALSE(file.remove("mcp_servers", "mcpac").has_value());
      CHECK(file.text() == text);
    }
    auto beside = read_toml("[mcp_servers]\nother = {command = 'x'}\n");
    CHECK(beside.set("mcp_servers", "mcpac", kServerEntry).has_value());
    auto quoted = read_toml("[ \"mcp_servers\" . 'mcpac' ]\ncommand = 'x'\n");
    CHECK(quoted.set("mcp_servers", "mcpac", kServerEntry).has_value());
    auto empty = read_toml("");
    CHECK(empty.set("mcp_servers", "mcpac", kServerEntry).has_value());
    auto no_newline = read_toml("a = 1");
    REQUIRE(no_newline.set("mcp_servers", "mcpac", kServerEntry).has_value());
    CHECK(no_newline.text().starts_with("a = 1\n\n[mcp_servers.mcpac]\n"));
  }

  TEST_CASE("brackets, signs and quotes in strings and comments end no statement") {
    const std::string mine = R"TOML(a = "]" # ["
b = """x
[mcp_servers.mcpac]
"""""
c = '''\
=
'''
d = [ # ]
  '#', "\"]",
]
["x=]".'y.z']
"k = [" = 1
)TOML";
    auto file = read_toml(mine);
    CHECK(file.value()["b"] == "x\n[mcp_servers.mcpac]\n\"\"");
    CHECK(file.value()["c"] == "\\\n=\n");
    CHECK(file.value()["x=]"]["y.z"]["k = ["] == 1);
    REQUIRE(file.set("mcp_servers", "mcpac", kServerEntry).has_value());
    CHECK(file.text().starts_with(mine));
    REQUIRE(file.remove("x=]", "y.z").has_value());
    CHECK(file.text().find("k = [") == std::string::npos);
  }

  TEST_CASE("what is no TOML is not taken, with its line") {
    for (const std::string text : {"a",
                                   "a =",
                                   "a = b",
                                   "= 1",
                                   "a = 1 b = 2",
                                   "[a",
                                   "[a]\n[a]",
                                   "a = 1\na = 2",
                                   "a = \"x",
                                   "a = 'x\n'",
                                   "a = [1",
                                   "a = {b = 1,}",
                                   "a = {b = 1}\na.c = 2",
                                   "a = 1\n[a]\nb = 1",
                                   "a = {}\n[a]\n",
                                   "[[a]]\n[a]\nb = {\n",
                                   "a = \"\\x\"",
                                   "a = \"\\ud800\"",
                                   "a = \"\x01\"",
                                   "a = \"\xff\"",
                                   "a..b = 1",
                                   "[a.]",
                                   "[]",
                                   "a = 1979 x"}) {
      const auto file = TomlText::parse(text, "config.toml");
      CHECK_MESSAGE(!file.has_value(), text);
      if (!file) CHECK(file.error().where.starts_with("config.toml"));
    }
    CHECK_FALSE(TomlText::parse("a = " + std::string(10'000, '['), "f").has_value());
    std::string deep = "a";
    for (int i = 0; i < 200'000; ++i) deep += ".a";
    for (const std::string& text : {deep + " = 1", "[" + deep + "]", "x = {" + deep + " = 1}"})
      CHECK_FALSE(TomlText::parse(text, "f").has_value());
    CHECK_FALSE(
        TomlText::parse(std::string(1'000, 'a') + std::string(10'000, '.'), "f").has_value());
  }

  TEST_CASE("what is shown has no value and no comment but those of the one table") {
    auto file = read_toml(kFile);
    REQUIRE(file.set("mcp_servers", "mcpac", kServerEntry).has_value());
    const std::string shown = file.masked("mcp_servers", "mcpac");
    for (const char* hidden : {"s3cr3t", "two", "npx", "mine", "which"})
      CHECK(shown.find(hidden) == std::string::npos);
    CHECK(shown.find("TOKEN = …") != std::string::npos);
    CHECK(shown.find("/bin/mcpac") != std::string::npos);
    auto own = kServerEntry;
    own["env"]["TOKEN"] = "s3cr3t";
    REQUIRE(file.set("mcp_servers", "mcpac", own).has_value());
    CHECK(file.masked("mcp_servers", "mcpac").find("s3cr3t") == std::string::npos);
    for (const char* text :
         {"[mcp_servers.mcpac]\ncommand = \"own\"\nenv = {A = \"s3cr3t\"}\n",
          "[mcp_servers.mcpac]\nenv.A = \"s3cr3t\"\n", "[mcp_servers.mcpac.env]\nA = \"s3cr3t\"\n"})
      CHECK(read_toml(text).masked("mcp_servers", "mcpac").find("s3cr3t") == std::string::npos);
  }
}
