// What is said where a project has no mcpac.json.
#include "project/project.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "core/file.h"

using namespace mcpac;

TEST_SUITE("execute/project") {
  TEST_CASE("who stands inside of a project is led to its mcpac.json, and not to a second one") {
    const auto made =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-test-");
    const auto& project = made.value().path();
    const auto inside = project / "it's/notes";
    std::filesystem::create_directories(inside);
    const auto fix = [&] {
      const auto loaded = project::load_project(inside / "mcpac.json", {});
      return loaded ? std::string() : loaded.error().fix;
    };
    CHECK(fix() == "run `mcpac init`, or name another file with --config FILE");
    REQUIRE(write_file_atomic(project / "mcpac.json", "{}").has_value());
    CHECK(fix() == "`mcpac -C " + project.string() + " …`: there is one");
  }

  TEST_CASE("a manifest lies beside the server's package, or where its entry names it") {
    const auto made =
        TemporaryFolder::create(std::filesystem::temp_directory_path(), "mcpac-test-");
    const auto& project = made.value().path();
    const auto package = project / "node_modules" / "@a" / "b";
    const auto script = package / "dist" / "src" / "index.js";
    std::filesystem::create_directories(script.parent_path());
    const auto put = [](const std::filesystem::path& file, const std::string& text) {
      REQUIRE(write_file_atomic(file, text).has_value());
    };
    put(script, "");
    put(package / "package.json", "{}");
    put(project / "mcpac.json", R"({"mcpServers": {"x": {"command": "node", "args": ["--flag", ")" +
                                    script.string() +
                                    R"("]}, "y": {"command": "node", "args": [")" +
                                    script.string() + R"("], "manifest": "mine.json"}}})");
    const auto claims = [&](const char* server) {
      const auto loaded = project::load_project(project / "mcpac.json", {});
      REQUIRE(loaded);
      return loaded->config.find(server)->claims;
    };
    const auto said = [&](const char* server) { return text_of(claims(server).list); };
    CHECK(said("x").empty());
    CHECK(claims("x").dropped.empty());
    // One that is named and is not there is told, and so is one that cannot be read.
    REQUIRE(claims("y").dropped.size() == 1);
    CHECK(claims("y").dropped[0].ends_with("mine.json is no file"));
    put(project / "mine.json", std::string(300 << 10, ' '));
    CHECK(claims("y").dropped.size() == 1);
    // Not of another package's folder above.
    put(project / "node_modules" / "agent-manifest.json", R"({"permissions": ["Exec"]})");
    CHECK(said("x").empty());
    put(package / "agent-manifest.json", R"({"permissions": ["mcp.ac.filesystem.read"]})");
    CHECK(said("x") == "says it needs: reads files (optional)");
    put(package / "dist" / "mcpac-effects.json", R"({"effects": ["Exec", "Nothing"]})");
    CHECK(said("x") == "says it needs: starts programs (optional)");
    CHECK(claims("x").dropped.size() == 1);
    put(project / "mine.json", R"({"effects": ["EnvRead"]})");
    CHECK(said("y") == "says it needs: variables (optional)");
  }
}
