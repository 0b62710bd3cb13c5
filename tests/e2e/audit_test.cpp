// mcpac audit: the record of real runs through the real binary.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "e2e/workspace.h"

using e2e::Workspace;
using mcpac::Json;

namespace {

namespace fs = std::filesystem;

const char* const kReads =
    "#include <filesystem.hpp>\n"
    "int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {\n"
    "  (void)rt.filesystem.read_text_file({.path = \"data/a.txt\"}).text();\n"
    "  return 0;\n"
    "}\n";

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The id of the last run that a program's calls were recorded of.
std::string last_run() {
  const auto events = Workspace::shared().mcpac({"audit", "list", "--json"}).json();
  REQUIRE_FALSE(events.empty());
  return events.back()["run_id"];
}

}  // namespace

TEST_SUITE("e2e/audit") {
  TEST_CASE("a run is proven until one byte of its record is another") {
    const auto& workspace = Workspace::shared();
    const auto ran = workspace.execute(kReads, "filesystem.read_text_file");
    INFO(ran.out << ran.err);
    REQUIRE(ran.exit_code == 0);
    const std::string run = last_run();
    const auto proven = workspace.mcpac({"audit", "verify", "--run", run});
    INFO(proven.out << proven.err);
    CHECK(proven.exit_code == 0);
    CHECK(proven.out.find(run + "  proven") != std::string::npos);

    const fs::path file = workspace.state() / "audit" / (run + ".jsonl");
    const std::string whole = text_of(file);
    std::string changed = whole;
    const auto at = changed.find("read_text_file");
    REQUIRE(at != std::string::npos);
    changed[at] = 'R';
    std::ofstream(file, std::ios::binary) << changed;
    const auto tampered = workspace.mcpac({"audit", "verify", "--run", run, "--json"});
    std::ofstream(file, std::ios::binary) << whole;
    CHECK(tampered.exit_code == 77);
    CHECK(tampered.json()["runs"][0]["standing"] == "tampered");
    CHECK_FALSE(tampered.json()["runs"][0]["problems"].empty());
  }

  TEST_CASE("a run that is taken away is missed, and an unknown one is an error") {
    const auto& workspace = Workspace::shared();
    REQUIRE(workspace.execute(kReads, "filesystem.read_text_file").exit_code == 0);
    const std::string run = last_run();
    const fs::path file = workspace.state() / "audit" / (run + ".jsonl");
    const fs::path aside = workspace.folder() / "aside.jsonl";
    fs::rename(file, aside);
    const auto missed = workspace.mcpac({"audit", "verify"});
    fs::rename(aside, file);
    INFO(missed.out << missed.err);
    CHECK(missed.exit_code == 77);
    CHECK(missed.out.find(run) != std::string::npos);
    CHECK(workspace.mcpac({"audit", "verify", "--run", "ffffffff"}).exit_code == 66);
  }
}
