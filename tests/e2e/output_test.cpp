// Standard output that nobody reads, or that takes no more.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "e2e/workspace.h"
#include "places.h"

using e2e::has;
using e2e::Workspace;

namespace {

// In a shell of the shared project; $mcpac is the program.
e2e::Outcome shell(const std::string& script) {
  auto environment = Workspace::shared().environment();
  environment.push_back("mcpac=" + mcpac::testing::in_build("bin/mcpac"));
  return e2e::run_program({"bash", "-c", script}, environment,
                          {.folder = Workspace::shared().folder()});
}

}  // namespace

TEST_SUITE("e2e/output") {
  TEST_CASE("a reader that goes away is no error: mcpac ends as SIGPIPE would end it") {
    // More than a pipe holds, whoever is first.
    const auto run = shell(
        "for i in 1 2 3 4 5 6; do $mcpac tools describe filesystem --json; done > /dev/null;"
        "(sleep 0.3; $mcpac tools describe '*' --json; echo \"code $?\" >&2) | true");
    CHECK(has(run.err, "code 141"));
    CHECK_FALSE(has(run.err, "MCPAC-E"));
  }

  TEST_CASE("what a full disk swallows is told, and not as a bug of mcpac") {
    for (const char* command : {"tools list", "tools list --json", "info", "server list"}) {
      CAPTURE(command);
      const auto run = shell("$mcpac " + std::string(command) + " > /dev/full");
      CHECK(run.exit_code == 69);
      CHECK(has(run.err, "MCPAC-E0102"));
      CHECK(has(run.err, "standard output cannot be written"));
      CHECK_FALSE(has(run.err, "MCPAC-E0100"));
    }
  }

  TEST_CASE("a program whose log nobody reads is ended by its time, and its end is recorded") {
    Workspace::shared().write(
        "talks.cpp",
        "#include <mcpac.hpp>\n#include <chrono>\n#include <cstdio>\n"
        "#include <thread>\n"
        "int agent_main(mcpac::Requires<>) {\n"
        "  for (int i = 0; i < 100; ++i) mcpac::log(std::string(4000, 'l'));\n"
        "  std::puts(\"x\");\n  std::fflush(stdout);\n"
        "  std::this_thread::sleep_for(std::chrono::hours(1));\n"
        "  return 0;\n"
        "}\n");
    // Standard error is a pipe with a reading end, at which nobody reads; -s KILL: else `timeout`
    // ends with 124, too.
    const auto run = shell(
        "mkfifo deaf && exec 3<>deaf && "
        "timeout -s KILL 120 $mcpac execute --timeout 2 talks.cpp 2>&3; code=$?; exec 3>&-; "
        "rm deaf; echo \"code $code\"; "
        "$mcpac audit list --json | tr -d '\\n ' | grep -o '\"verdict\":\"[a-z-]*\"' | tail -n 1");
    INFO(run.err);
    CHECK(has(run.out, "x\ncode 124\n"));
    CHECK(has(run.out, "\"verdict\":\"timed-out\""));
  }

  TEST_CASE("what a program logs comes whole and in its order to whoever reads it slowly") {
    Workspace::shared().write(
        "counts.cpp",
        "#include <mcpac.hpp>\n#include <format>\n"
        "int agent_main(mcpac::Requires<>) {\n"
        "  for (int i = 0; i < 3000; ++i)\n"
        "    mcpac::log(std::format(\"{:04} {}\", i, std::string(200, 'l')));\n"
        "  return 3;\n"
        "}\n");
    const auto run =
        shell("{ $mcpac execute counts.cpp; echo \"code $?\"; } 2>&1 | { sleep 2; cut -c 1-11; }");
    std::string expected;
    for (int i = 0; i < 3000; ++i) expected += fmt::format("[info] {:04}\n", i);
    CHECK(run.out == expected + "code 3\n");
  }

  TEST_CASE("the output of a program that cannot be written is told, and its exit code stays") {
    Workspace::shared().write(
        "three.cpp",
        "#include <mcpac.hpp>\n#include <cstdio>\n"
        "int agent_main(mcpac::Requires<>) { std::puts(\"x\"); return 3; }\n");
    const auto run = shell("$mcpac execute three.cpp > /dev/full");
    CHECK(run.exit_code == 3);
    CHECK(has(run.err, "MCPAC-E0102"));
  }
}
