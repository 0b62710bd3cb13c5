// `mcpac run`: programs that somebody else compiled, in the same sandbox at the same gate.
#include <doctest/doctest.h>

#include "e2e/workspace.h"

using e2e::Workspace;

namespace {

// Built as docs/agents.md says, against the headers that the workspace generated.
std::string build(const std::string& name, const std::string& source,
                  std::vector<std::string> flags) {
  auto& workspace = Workspace::shared();
  const auto file = workspace.write(name + ".cpp", source);
  const auto program = (workspace.folder() / name).string();
  std::vector<std::string> words{"g++", "-std=c++20", "-Iservers", file.string(), "-o", program};
  words.insert(words.end(), flags.begin(), flags.end());
  const auto built = e2e::run_program(words, {}, {.folder = workspace.folder()});
  INFO(built.err);
  REQUIRE(built.exit_code == 0);
  return program;
}

const std::string kOwnProgram = R"(#include <mcpac.hpp>
#include <cstdio>
int main() {
  auto rt = mcpac::connect<mcpac::Requires<mcp::filesystem::read_text_file>>();
  auto text = rt.filesystem.read_text_file.try_call({.path = "data/a.txt", .head = 1});
  std::puts(text ? text->text().c_str() : "denied");
}
)";

}  // namespace

TEST_SUITE("e2e/run") {
  TEST_CASE("a program of somebody's own has what was granted, static or dynamic") {
    const auto fixed = build("own-static", kOwnProgram, {"-static"});
    const auto dynamic = build("own-dynamic", kOwnProgram, {});
    for (const auto& program : {fixed, dynamic}) {
      const auto run =
          Workspace::shared().mcpac({"run", "--grant", "filesystem.read_text_file", "--", program});
      INFO(run.err);
      CHECK(run.exit_code == 0);
      CHECK(run.out == "alpha\n");
    }
    CHECK(Workspace::shared().mcpac({"run", "--", fixed}).out == "denied\n");
  }

  TEST_CASE("what is no program for the sandbox is refused before it runs") {
    auto& workspace = Workspace::shared();
    workspace.write("script.sh", "#!/bin/sh\necho hi\n");
    const auto run = workspace.mcpac({"run", "--", (workspace.folder() / "script.sh").string()});
    CHECK(run.exit_code == 65);
    CHECK(run.err.find("MCPAC-E0708") != std::string::npos);
  }
}
