#include "toolchain/source_folder.h"

#include <doctest/doctest.h>

#include <filesystem>

using namespace mcpac;
namespace fs = std::filesystem;

TEST_SUITE("execute/source folder") {
  TEST_CASE(
      "its parts are for whoever reads them, its parent for nobody else, and all of it goes") {
    fs::path sources;
    {
      const auto folder = toolchain::SourceFolder::make(fs::temp_directory_path());
      REQUIRE(folder.has_value());
      sources = folder->sources();
      CHECK(fs::is_empty(sources));
      CHECK(fs::is_empty(folder->lead()));
      CHECK(fs::status(sources).permissions() == fs::perms(0755));
      CHECK(fs::status(sources.parent_path()).permissions() == fs::perms(0700));
    }
    CHECK_FALSE(fs::exists(sources.parent_path()));
  }

  TEST_CASE("where no folder can be made that is an error") {
    CHECK_FALSE(toolchain::SourceFolder::make("/proc/no/such/place").has_value());
  }
}
