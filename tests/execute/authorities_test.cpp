#include "execute/check/authorities.h"

#include <doctest/doctest.h>

#include "core/clock.h"
#include "core/file.h"

using namespace mcpac;
using namespace mcpac::execute;

namespace {

namespace fs = std::filesystem;

Result<policy::Authority> load_in(const fs::path& folder) {
  const Project project{.config_file = folder / "mcpac.json", .folder = folder, .config = {}};
  const SystemClock clock;
  PolicyWorld world(project, clock);
  return load_authority(
      project, world,
      {{.name = "the command line", .grants = {}, .asks = {}, .denies = {}, .files = {}}});
}

}  // namespace

TEST_SUITE("execute/authorities") {
  TEST_CASE("a ceiling that is there and cannot be read stops the run") {
    const auto folder = TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
    const fs::path ceiling = folder.path() / "mcpac.policy";
    CHECK(load_in(folder.path()).has_value());
    fs::create_symlink("/nonexistent/mcpac.policy", ceiling);
    CHECK_FALSE(load_in(folder.path()).has_value());
    fs::remove(ceiling);
    fs::create_symlink(ceiling, ceiling);
    CHECK_FALSE(load_in(folder.path()).has_value());
    fs::remove(ceiling);
    fs::create_directory(ceiling);
    CHECK_FALSE(load_in(folder.path()).has_value());
  }

  TEST_CASE("what users stated is told with its layer, and without what the program declares") {
    const Json schema = {{"type", "object"}};
    policy::ToolSchemas tools;
    tools.emplace(Permission::parse("fs.read").value(), schema);
    const SystemClock clock;
    policy::LayerText run;
    run.name = "the command line";
    run.grants = {"fs.read"};
    run.places = {"network any"};
    policy::LayerText ceiling;
    ceiling.name = "mcpac.policy";
    ceiling.asks = {"fs.read"};
    const auto authority = policy::Authority::load(
        {run, declaration_layer({"fs.read"}), ceiling},
        {.tools = &tools, .resolver = nullptr, .clock = &clock, .bases = {}});
    REQUIRE(authority.has_value());
    CHECK(stated_rules(*authority) == std::vector<std::string>{"the command line: allow fs.read",
                                                               "the command line: network any",
                                                               "mcpac.policy: ask fs.read"});
  }
}
