// The transcript in the README is a test: its commands are run in an empty folder and must print
// what it says they print.
#include <doctest/doctest.h>

#include "e2e/workspace.h"
#include "places.h"

TEST_SUITE("e2e/readme") {
  TEST_CASE("the quick start prints what the README says") {
    const auto run = e2e::run_program(
        {"python3", mcpac::testing::in_source("tools/replay.py"),
         mcpac::testing::in_source("README.md"), "--bin", mcpac::testing::in_build("bin")},
        {}, {});
    INFO(run.out);
    INFO(run.err);
    CHECK(run.exit_code == 0);
  }
}
