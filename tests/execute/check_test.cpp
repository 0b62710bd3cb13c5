#include "execute/check.h"

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

}  // namespace

TEST_SUITE("execute/check") {
  TEST_CASE("what is declared and not granted is missing, with the text to add") {
    const World world;
    const auto result = execute::check(declaring({"fs.read", "fs.write"}), world.grant(""));
    CHECK_FALSE(result.ok());
    CHECK(result.missing == std::vector<std::string>{"fs.read", "fs.write"});
    CHECK(result.fix == "--grant fs.read,fs.write");
    CHECK(execute::check(declaring({"fs.read"}), world.grant("fs.read,fs.write")).ok());
  }

  TEST_CASE("the text to add loads and covers, whatever the tool is called") {
    const World world;
    const auto result = execute::check(declaring({"gh.issues.create"}), world.grant(""));
    CHECK(result.fix == R"(--grant 'gh."issues.create"')");
    CHECK(
        execute::check(declaring({"gh.issues.create"}), world.grant(R"(gh."issues.create")")).ok());
  }

  TEST_CASE("a grant for some arguments is conditional, not missing") {
    const World world;
    const auto result =
        execute::check(declaring({"fs.read"}), world.grant("fs.read(path == \"a\")"));
    CHECK(result.ok());
    CHECK(result.conditional == std::vector<std::string>{"fs.read"});
  }

  TEST_CASE("what is granted by name and not declared is extra") {
    const World world;
    CHECK(execute::check(declaring({"fs.read"}), world.grant("fs.read,fs.write")).extra ==
          std::vector<std::string>{"fs.write"});
  }
}
