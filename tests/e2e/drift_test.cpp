// Servers whose tools are not, or do not stay, what the lock approved.
#include <doctest/doctest.h>

#include "e2e/workspace.h"

using e2e::Workspace;

TEST_SUITE("e2e/drift") {
  TEST_CASE(
      "a change that is announced during the first comparison is seen before the first call") {
    const Workspace project(Workspace::fixture("hasty"));
    REQUIRE(project.mcpac({"generate"}).exit_code == 0);  // asks once: the old tools are locked
    const auto run = project.execute(
        "#include <mcpac.hpp>\n"
        "int agent_main(mcpac::Requires<mcp::fixture::echo> rt) {\n"
        "  rt.fixture.echo({.zebra = \"secret\"});\n  return 0;\n}\n",
        "fixture.echo");
    INFO(run.err);
    CHECK(run.exit_code == 77);
    CHECK(run.err.find("MCPAC-E0402") != std::string::npos);
  }
}
