// Who uses a project is known as long as it lives, and that it did stays known.
#include "project/project_use.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>

#include "project/project_place.h"
#include "resident/support_child.h"

using namespace mcpac;
using project::place_of_project;
using project::ProjectUse;
namespace fs = std::filesystem;

namespace {

struct Place {
  TemporaryFolder folder =
      TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
  project::Folders folders{};
  fs::path config_file = folder.path() / "project" / "mcpac.json";

  Place() {
    folders.state = folder.path() / "state";
    fs::create_directory(folder.path() / "project");
  }
  [[nodiscard]] std::optional<std::string> last() const {
    return ProjectUse::number_of_last(folders, config_file);
  }
};

}  // namespace

TEST_SUITE("execute/project_use") {
  TEST_CASE("a use changes the number, and while it lasts nobody is told one") {
    const Place place;
    const auto before = place.last();
    REQUIRE(before.has_value());
    CHECK(place.last() == before);
    {
      const ProjectUse use(place.folders, place.config_file);
      CHECK(!place.last());
      const ProjectUse beside(place.folders, place.config_file);
      CHECK(!place.last());
    }
    const auto after = place.last();
    REQUIRE(after.has_value());
    CHECK(after != before);
  }

  TEST_CASE("the use of a process that is killed is over, and was one") {
    const Place place;
    const auto before = place.last();
    {
      std::optional<ProjectUse> use;
      const resident_test::Waiting user([&] {
        use.emplace(place.folders, place.config_file);
        return true;
      });
      REQUIRE(user.went_well());
      CHECK(!place.last());
    }
    CHECK(place.last().has_value());
    CHECK(place.last() != before);
  }

  TEST_CASE("a project is one however its file is spelled, and each link to a file is one") {
    const Place place;
    const auto project = place.folder.path() / "project";
    fs::create_directory(project / "sub");
    fs::create_directory_symlink(project, place.folder.path() / "link");
    const auto plain = place_of_project(place.config_file);
    CHECK(plain == fs::canonical(project) / "mcpac.json");
    CHECK(place_of_project(project / "sub" / ".." / "mcpac.json") == plain);
    CHECK(place_of_project(project / "." / "mcpac.json") == plain);
    CHECK(place_of_project(place.folder.path() / "link" / "mcpac.json") == plain);
    fs::create_symlink(place.config_file, project / "sub" / "mcpac.json");
    CHECK(place_of_project(project / "sub" / "mcpac.json") != plain);
    CHECK(place_of_project("nowhere/../x.json").is_absolute());
    const auto before = ProjectUse::number_of_last(place.folders, place.config_file);
    { const ProjectUse use(place.folders, project / "sub" / ".." / "mcpac.json"); }
    CHECK(ProjectUse::number_of_last(place.folders, place.config_file) != before);
  }

  TEST_CASE("where the state folder cannot be written nobody is told a number") {
    Place place;
    place.folders.state = "/proc/none";
    const ProjectUse use(place.folders, place.config_file);
    CHECK(!place.last());
  }
}
