// The examples of the repository, run as their READMEs say, against their expected output.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "e2e/workspace.h"
#include "places.h"

using e2e::Workspace;

namespace {

namespace fs = std::filesystem;

const fs::path kExamples = std::filesystem::path(mcpac::testing::in_source("examples"));

// examples/ as a project of its own, in a fresh folder.
Workspace& project() {
  static Workspace workspace(Workspace::real_servers());
  static const bool ready = [] {
    for (const auto& entry : fs::directory_iterator(kExamples)) {
      if (!entry.is_directory() || entry.path().filename() == "servers") continue;
      fs::copy(entry.path(), workspace.folder() / entry.path().filename(),
               fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    }
    fs::remove(workspace.folder() / "data/a.txt");  // the workspace's own file
    return workspace.mcpac({"generate"}).exit_code == 0;
  }();
  REQUIRE(ready);
  return workspace;
}

void check_example(const std::string& name, const std::string& grants, int exit_code) {
  const auto run = project().mcpac({"execute", "-f", name + "/agent.cpp", "--grant", grants});
  INFO(run.err);
  CHECK(run.exit_code == exit_code);
  CHECK(run.out == project().read(name + "/expected.txt"));
}

}  // namespace

TEST_SUITE("e2e/examples") {
  TEST_CASE("summary: files to one line each") {
    check_example("summary", "filesystem.list_directory,filesystem.read_text_file", 0);
  }

  TEST_CASE("knowledge_graph: files into server-memory") {
    check_example("knowledge_graph",
                  "filesystem.read_text_file,memory.create_entities,memory.create_relations,memory."
                  "read_graph",
                  0);
  }

  TEST_CASE("concurrent: two hundred calls in flight") {
    check_example("concurrent", "everything.get-sum", 0);
  }

  TEST_CASE("refused: declares more than is granted") {
    check_example("refused", "filesystem.read_text_file", 77);
    CHECK_FALSE(fs::exists(project().folder() / "data/stolen.txt"));
  }
}
