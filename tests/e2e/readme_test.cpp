// The transcript in the README is a test: its commands are run in an empty folder and must print
// what it says they print.
#include <doctest/doctest.h>

#include "e2e/workspace.h"

TEST_SUITE("e2e/readme") {
  TEST_CASE("the quick start prints what the README says") {
    const auto run =
        e2e::run_program({"python3", MCPAC_SOURCE_DIR "/tools/replay.py",
                          MCPAC_SOURCE_DIR "/README.md", "--bin", MCPAC_BUILD_DIR "/bin"},
                         {}, {});
    INFO(run.out);
    INFO(run.err);
    CHECK(run.exit_code == 0);
  }
}
