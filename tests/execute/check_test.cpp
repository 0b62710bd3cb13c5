#include "execute/check/check.h"

#include <doctest/doctest.h>

#include "core/clock.h"

using namespace mcpac;

namespace {

struct World {
  policy::ToolSchemas tools;
  SystemClock clock;
  World() {
    const Json schema = {{"type", "object"},
                         {"properties", {{"path", {{"type", "string"}}}}},
                         {"additionalProperties", false}};
    for (const char* name : {"fs.read", "fs.write", "gh.issues.create"})
      tools.emplace(Permission::parse(name).value(), schema);
  }
  policy::Authority grant(const std::string& text) const {
    policy::LayerText layer;
    layer.name = "the command line";
    if (!text.empty()) layer.grants = {text};
    auto authority = policy::Authority::load(
        {layer}, {.tools = &tools, .resolver = nullptr, .clock = &clock, .bases = {}});
    REQUIRE(authority.has_value());
    return std::move(*authority);
  }
};

analyzer::Report declaring(const std::vector<std::string>& permissions) {
  analyzer::Report report;
  for (const auto& permission : permissions)
    report.declared.push_back({permission, "", "agent.cpp", 1, 1});
  return report;
}

analyzer::Report narrowing(const std::string& permission, const std::string& where) {
  analyzer::Report report;
  report.declared.push_back({permission, where, "agent.cpp", 1, 1});
  return report;
}

}  // namespace

TEST_SUITE("execute/check/check") {
  TEST_CASE("what is declared and not granted is missing, with the text to add") {
    const World world;
    const auto result = execute::check(declaring({"fs.read", "fs.write"}), world.grant("")).value();
    CHECK_FALSE(result.ok());
    CHECK(result.missing == std::vector<std::string>{"fs.read", "fs.write"});
    CHECK(result.fix == "--grant fs.read,fs.write");
    CHECK(execute::check(declaring({"fs.read"}), world.grant("fs.read,fs.write")).value().ok());
  }

  TEST_CASE("the text to add loads and covers, whatever the tool is called") {
    const World world;
    const auto result = execute::check(declaring({"gh.issues.create"}), world.grant("")).value();
    CHECK(result.fix == R"(--grant 'gh."issues.create"')");
    CHECK(execute::check(declaring({"gh.issues.create"}), world.grant(R"(gh."issues.create")"))
              .value()
              .ok());
  }

  TEST_CASE("a grant for some arguments is conditional, not missing") {
    const World world;
    const auto result =
        execute::check(declaring({"fs.read"}), world.grant("fs.read(path == \"a\")")).value();
    CHECK(result.ok());
    CHECK(result.conditional == std::vector<std::string>{"fs.read"});
  }

  TEST_CASE("a condition with an apostrophe stays one word of the shell") {
    const World world;
    const auto report = narrowing("fs.read", R"(path == "it's; touch /tmp/PWN")");
    const auto result = execute::check(report, world.grant("")).value();
    CHECK(result.fix == R"(--grant 'fs.read(path == "it'\''s; touch /tmp/PWN")')");
    CHECK(execute::check(report, world.grant(result.to_grant.front())).value().ok());
  }

  TEST_CASE("a condition that is no rule for exactly its tool is neither shown nor granted") {
    const World world;
    for (const char* where :
         {R"(path == "x" or 'y'; touch /tmp/PWN #)", R"(path == "x"),fs.write(path == "y")",
          R"(path == "x"), fs.write)", R"(path == "x") calls <= 9)", R"(..),fs.write(..)", ")", "(",
          "path", "path re /a\x1b[31mb/", "path re /a\u200bb/", "path == \"\u202e\""}) {
      INFO(where);
      const auto report = narrowing("fs.read", where);
      CHECK_FALSE(execute::check(report, world.grant("fs.read")));
      CHECK_FALSE(execute::check(report, world.grant("")));
      CHECK_FALSE(execute::declared_rules(report));
      CHECK_FALSE(execute::grant_text(Permission::parse("fs.read").value(), where));
    }
  }

  TEST_CASE("a condition is printed as it was parsed, without what was no part of it") {
    const auto fs_read = Permission::parse("fs.read").value();
    CHECK(execute::grant_text(fs_read, "path  ==\t\"x\" # ) or more").value() ==
          R"(fs.read(path == "x"))");
    CHECK(execute::grant_text(fs_read).value() == "fs.read");
    CHECK(execute::declared_rules(narrowing("fs.read", "path within ./data")).value() ==
          std::vector<std::string>{"fs.read(path within ./data)"});
  }

  TEST_CASE("what is granted by name and not declared is extra") {
    const World world;
    CHECK(execute::check(declaring({"fs.read"}), world.grant("fs.read,fs.write")).value().extra ==
          std::vector<std::string>{"fs.write"});
  }
}
