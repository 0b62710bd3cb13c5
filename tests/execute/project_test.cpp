// What is said where a project has no mcpac.json.
#include "execute/project/project.h"

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
      const auto loaded = execute::load_project(inside / "mcpac.json", {});
      return loaded ? std::string() : loaded.error().fix;
    };
    CHECK(fix() == "run `mcpac init`, or name another file with --config FILE");
    REQUIRE(write_file_atomic(project / "mcpac.json", "{}").has_value());
    CHECK(fix() == "`mcpac -C " + project.string() + " …`: there is one");
  }
}
