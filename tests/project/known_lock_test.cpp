// The lock of a project, beside one that was read from it before.
#include "project/known_lock.h"

#include <doctest/doctest.h>

#include "core/file.h"
#include "places.h"

using namespace mcpac;
using namespace mcpac::project;

namespace {

std::string some_text() {
  return read_file(mcpac::testing::in_source("tests/codegen/golden/weather/mcpac.lock")).value();
}

struct LockFolder {
  TemporaryFolder temporary =
      TemporaryFolder::create(std::filesystem::temp_directory_path(), "lock-").value();
  Project project{
      .config_file = temporary.path() / "mcpac.json", .folder = temporary.path(), .config = {}};
  void put(const std::string& text) const { REQUIRE(write_file_atomic(project.lock_file(), text)); }
};

}  // namespace

TEST_SUITE("execute/known_lock") {
  TEST_CASE("a lock whose bytes are the same is the one that is known") {
    const LockFolder folder;
    folder.put(some_text());
    const auto known = load_known_lock(folder.project).value();
    CHECK(load_known_lock(folder.project, known).value() == known);
  }

  TEST_CASE("a lock with other bytes is read, also where they say the same") {
    const LockFolder folder;
    folder.put(some_text());
    const auto known = load_known_lock(folder.project).value();
    folder.put(some_text() + "\n");
    const auto again = load_known_lock(folder.project, known).value();
    CHECK(again != known);
    CHECK(again->lock.servers.front().name == "weather");
    CHECK(again->digests.of_text == known->digests.of_text);
    folder.put("{");
    CHECK(!load_known_lock(folder.project, known));
    std::filesystem::remove(folder.project.lock_file());
    // A project that names no server needs no lock, and has none.
    CHECK(load_known_lock(folder.project, known).value()->lock.servers.empty());
  }

  TEST_CASE("an empty lock is not the one that a project without servers needs not have") {
    const LockFolder folder;
    const auto known = load_known_lock(folder.project).value();
    CHECK(known->text.empty());
    folder.put("");
    CHECK(!load_known_lock(folder.project, known));
  }

  TEST_CASE("the digests of a lock are other ones with another server or another header") {
    const LockFolder folder;
    folder.put(some_text());
    const auto known = load_known_lock(folder.project).value();
    auto renamed = known->lock;
    REQUIRE(!renamed.servers.empty());
    renamed.servers.front().name += "_2";
    CHECK(digests_of(renamed).of_text != known->digests.of_text);
    CHECK(digests_of(renamed).of_headers == known->digests.of_headers);
    auto other = known->lock;
    other.headers["weather.hpp"] = std::string(64, '0');
    CHECK(digests_of(other).of_headers != known->digests.of_headers);
  }
}
