#include "execute/project/generate_project.h"

#include <doctest/doctest.h>

#include "core/abandoned.h"
#include "core/file.h"

using namespace mcpac;
using namespace mcpac::execute;
namespace fs = std::filesystem;

namespace {

struct Place {
  TemporaryFolder temporary = TemporaryFolder::create(fs::temp_directory_path(), "project").value();
  Project project;
  Place() {
    project.folder = temporary.path();
    project.config_file = project.folder / "mcpac.json";
    mcp::ServerConfig server;
    server.name = "s";
    project.config.servers.push_back(std::move(server));
  }
  [[nodiscard]] std::string lock() const { return read_file(project.lock_file()).value_or(""); }
};

std::vector<ServerListing> offering(const char* definition) {
  ServerListing listing;
  listing.server = "s";
  listing.identity = "stdio s";
  listing.tools.push_back({"t", parse_ordered_json(definition).value()});
  return {listing};
}

}  // namespace

TEST_SUITE("execute/generate project") {
  TEST_CASE("generate leaves an approved definition as it is, also where no digest tells") {
    const Place place;
    REQUIRE(write_project(
        place.project,
        offering(R"({"name":"t","description":"d","inputSchema":{"type":"object"}})")));
    const std::string before = place.lock();
    REQUIRE(before.find("inputSchema") != std::string::npos);
    const auto again = write_project(
        place.project, offering(R"({"inputSchema":{"type":"object"},"_meta":{"x":1},"name":"t",
                                    "icons":[{"src":"https://evil"}],"description":"d"})"));
    REQUIRE(again);
    CHECK(again->drifted.empty());
    CHECK(place.lock() == before);
  }

  TEST_CASE("what somebody was writing who was killed goes when the next one writes") {
    const Place place;
    const auto tools = offering(R"({"name":"t","inputSchema":{"type":"object"}})");
    REQUIRE(write_project(place.project, tools));
    const std::string ours = own_mark();
    const std::string dead = "." + ours.substr(0, ours.rfind('-')) + "-1.1f2e3d4c.tmp";
    const std::vector<fs::path> half = {place.project.lock_file().string() + dead,
                                        place.project.headers() / ("s.hpp" + dead),
                                        place.project.headers() / "mcpac" / ("lock.hpp" + dead)};
    for (const fs::path& file : half) REQUIRE(write_file_atomic(file, "half"));
    REQUIRE(write_project(place.project, tools));
    for (const fs::path& file : half) CHECK_FALSE(fs::exists(file));
    CHECK_FALSE(place.lock().empty());
  }

  TEST_CASE("only a path that leads to nothing is a lock that is not there yet") {
    const Place place;
    CHECK(read_lock_file(place.project).value().text.empty());
    const auto tools = offering(R"({"name":"t","inputSchema":{"type":"object"}})");
    for (const char* target : {"nowhere", "mcpac.lock"}) {
      INFO(target);
      fs::create_symlink(target, place.project.lock_file());
      CHECK_FALSE(read_lock_file(place.project));
      CHECK_FALSE(write_project(place.project, tools));
      CHECK(fs::is_symlink(place.project.lock_file()));
      const auto loaded = load_lock(place.project);
      REQUIRE_FALSE(loaded);
      CHECK(loaded.error().id != ErrorId::kLockMissing);
      fs::remove(place.project.lock_file());
    }
    CHECK(write_project(place.project, tools));
  }
}
