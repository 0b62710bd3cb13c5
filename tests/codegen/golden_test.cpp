// Golden folders: golden/<case>/tools.json in, the files beside it out. They show the emitted form
// to readers.
//
// MCPAC_RENEW_GOLDEN=1 writes them anew; read the diff before committing it.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "codegen/describe.h"
#include "places.h"
#include "support_codegen.h"

using namespace mcpac;
using namespace mcpac::codegen;
using namespace mcpac::codegen::testing;

namespace {

void check_file(const std::filesystem::path& file, const std::string& text) {
  if (std::getenv("MCPAC_RENEW_GOLDEN") != nullptr) REQUIRE(write_file_atomic(file, text));
  const auto expected = read_file(file);
  CHECK_MESSAGE((expected && *expected == text), file.string(),
                " differs; if that is right: MCPAC_RENEW_GOLDEN=1 test_codegen -ts=codegen/golden, "
                "then git diff");
}

void check_case(const std::string& name) {
  const std::filesystem::path folder =
      std::filesystem::path(mcpac::testing::in_source("tests/codegen/golden")) / name;
  ServerListing server = listing_of(folder / "tools.json");
  server.server = name;
  const auto output = generate({server});
  REQUIRE(output);
  const LockedServer& locked = output->lock.servers.front();
  check_file(folder / "header.hpp", output->files.at(name + ".hpp"));
  Lock lock = output->lock;
  lock.headers.clear();  // they change with the runtime
  check_file(folder / "mcpac.lock", to_text(lock));
  std::string described;
  for (const LockedTool& tool : locked.tools) described += describe_tool(locked, tool) + "\n";
  check_file(folder / "described.txt", described);
}

}  // namespace

TEST_SUITE("codegen/golden") {
  TEST_CASE("a small server looks as it did") {
    check_case("weather");
  }
  TEST_CASE("every kind of type looks as it did") {
    check_case("types");
  }
  TEST_CASE("awkward names and texts look as they did") {
    check_case("awkward");
  }
}
