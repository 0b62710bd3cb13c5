// The cache of prepared headers, as runs fill it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "e2e/workspace.h"

using e2e::Workspace;

namespace fs = std::filesystem;

TEST_SUITE("e2e/prepared") {
  TEST_CASE("a run that prepares another set of servers leaves no more of them than there may be") {
    // A server of a name of its own: its headers were prepared for nobody yet.
    std::string config = Workspace::fixture("plain");
    config.replace(config.find("\"fixture\""), std::string("\"fixture\"").size(), "\"bounded\"");
    const Workspace workspace(config);
    REQUIRE(workspace.mcpac({"generate"}).exit_code == 0);
    const fs::path prepared = Workspace::shared_cache() / "mcpac" / "prepared";
    const auto older = [&](int i) { return prepared / fmt::format("servers-older-{}", i); };
    constexpr int kOlder = 40;
    fs::create_directories(prepared);
    for (int i = 0; i < kOlder; ++i) {
      fs::create_directory(older(i));
      fs::last_write_time(older(i), fs::file_time_type::clock::now() - std::chrono::hours(100 + i));
    }
    const auto run = workspace.execute(
        "#include <mcpac.hpp>\n"
        "int agent_main(mcpac::Requires<mcp::bounded::echo>) { return 4; }\n",
        "bounded.echo");
    CHECK_MESSAGE(run.exit_code == 4, run.err);
    int left = 0;
    for (const auto& folder : fs::directory_iterator(prepared))
      left += folder.path().filename().string().starts_with("servers-") ? 1 : 0;
    CHECK(left == 32);
    CHECK_FALSE(fs::exists(older(kOlder - 1)));
    for (int i = 0; i < kOlder; ++i) fs::remove_all(older(i));
  }
}
