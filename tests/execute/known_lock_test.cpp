// The lock of a project, beside one that was read from it before.
#include <doctest/doctest.h>

#include "core/file.h"
#include "execute/project/project.h"
#include "places.h"

using namespace mcpac;
using namespace mcpac::execute;

namespace {

std::string some_text() {
  return read_file(mcpac::testing::in_source("tests/codegen/golden/weather/mcpac.lock")).value();
}

struct Folder {
  TemporaryFolder temporary =
      TemporaryFolder::create(std::filesystem::temp_directory_path(), "lock-").value();
  Project project{
      .config_file = temporary.path() / "mcpac.json", .folder = temporary.path(), .config = {}};
  void put(const std::string& text) const { REQUIRE(write_file_atomic(project.lock_file(), text)); }
};

}  // namespace

TEST_SUITE("execute/known_lock") {
  TEST_CASE("a lock whose bytes are the same is the one that is known") {
    const Folder folder;
    folder.put(some_text());
    auto known = load_known_lock(folder.project).value();
    known.lock.servers.front().name = "marked";  // by which it is known again
    CHECK(load_lock(folder.project, known).value().servers.front().name == "marked");
  }

  TEST_CASE("a lock with other bytes is read, also where they say the same") {
    const Folder folder;
    folder.put(some_text());
    auto known = load_known_lock(folder.project).value();
    known.lock.servers.front().name = "marked";
    folder.put(some_text() + "\n");
    CHECK(load_lock(folder.project, known).value().servers.front().name == "weather");
    folder.put("{");
    CHECK(!load_lock(folder.project, known));
    std::filesystem::remove(folder.project.lock_file());
    // A project that names no server needs no lock, and has none.
    CHECK(load_lock(folder.project, known).value().servers.empty());
  }
}
