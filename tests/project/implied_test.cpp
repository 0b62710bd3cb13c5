#include "project/implied.h"

#include <doctest/doctest.h>

#include "core/file.h"
#include "project/header_files.h"

using namespace mcpac;
using namespace mcpac::project;

namespace {

struct ImpliedPlace {
  TemporaryFolder temporary =
      TemporaryFolder::create(std::filesystem::temp_directory_path(), "implied-").value();
  Project project;
  ImpliedPlace() {
    project.folder = temporary.path();
    project.config_file = project.folder / "mcpac.json";
  }
};

}  // namespace

TEST_SUITE("execute/implied lock") {
  TEST_CASE("a project without servers works without a lock, by the headers of this mcpac") {
    const ImpliedPlace place;
    const auto lock = load_lock(place.project);
    REQUIRE(lock);
    CHECK(lock->servers.empty());
    REQUIRE_FALSE(lock->headers.empty());
    for (const auto& [name, digest] : lock->headers) CHECK(read_header(place.project, *lock, name));
    CHECK_FALSE(std::filesystem::exists(place.project.headers()));
  }

  TEST_CASE("a header that is there is held against the implied lock like any other") {
    const ImpliedPlace place;
    const auto lock = load_lock(place.project);
    REQUIRE(lock);
    const std::string name = lock->headers.begin()->first;
    const auto file = place.project.headers() / name;
    std::filesystem::create_directories(file.parent_path());
    REQUIRE(write_file_atomic(file, "// mine"));
    const auto read = read_header(place.project, *lock, name);
    REQUIRE_FALSE(read);
    CHECK(read.error().id == ErrorId::kHeaderDrift);
  }

  TEST_CASE("with a server nothing is implied, nor where something lies in the place of the lock") {
    ImpliedPlace place;
    std::filesystem::create_symlink("nowhere", place.project.lock_file());
    CHECK_FALSE(load_lock(place.project));
    std::filesystem::remove(place.project.lock_file());
    mcp::ServerConfig server;
    server.name = "s";
    place.project.config.servers.push_back(std::move(server));
    const auto lock = load_lock(place.project);
    REQUIRE_FALSE(lock);
    CHECK(lock.error().id == ErrorId::kLockMissing);
  }
}
