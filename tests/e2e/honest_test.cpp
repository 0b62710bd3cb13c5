// Honest programs through all that is read of a program before it runs: its source, and the object
// files that the compiler makes of it. The analyzer's own suite compiles nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "e2e/workspace.h"
#include "places.h"

using e2e::Workspace;

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> programs_in(const fs::path& folder, std::string_view start) {
  std::vector<fs::path> found;
  for (const auto& entry :
       fs::directory_iterator(std::filesystem::path(mcpac::testing::in_source()) / folder)) {
    const auto& path = entry.path();
    if (path.extension() == ".cpp" && path.filename().string().starts_with(start))
      found.push_back(path);
  }
  std::ranges::sort(found);
  return found;
}

void check_passes(const fs::path& program) {
  CAPTURE(program.string());
  const auto run =
      Workspace::shared().mcpac({"execute", "--dry-run", "--grant",
                                 "filesystem.*,memory.*,everything.*", "-f", program.string()});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  for (const char* word : {": warns: ", ": refuses: ", ": error: "})
    CHECK(run.err.find(word) == std::string::npos);
}

}  // namespace

TEST_SUITE("e2e/honest") {
  TEST_CASE("honest programs compile and nothing speaks against their object files") {
    const auto honest = programs_in("tests/analyzer/cases", "honest_");
    REQUIRE(honest.size() >= 40);
    for (const auto& program : honest) check_passes(program);
    for (const auto& program : programs_in("bench/agents", "")) check_passes(program);
  }
}
