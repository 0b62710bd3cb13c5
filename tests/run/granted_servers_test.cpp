#include "run/check/granted_servers.h"

#include <doctest/doctest.h>

#include "core/clock.h"
#include "core/file.h"
#include "run/check/authorities.h"
#include "servers/tool_tables.h"

using namespace mcpac;
using namespace mcpac::project;
using namespace mcpac::servers;
using namespace mcpac::run;

namespace {

namespace fs = std::filesystem;
using Servers = std::set<std::string>;

codegen::Lock lock_of_two() {
  codegen::Lock lock;
  for (const std::string name : {"files", "mail-box"}) {
    codegen::LockedServer server;
    server.name = name;
    server.cpp_name = name == "files" ? "mcp::files" : "mcp::mail_box";
    for (const char* tool : {"get", "put"}) {
      codegen::LockedTool locked;
      locked.name = tool;
      locked.definition = OrderedJson{{"name", tool}, {"inputSchema", {{"type", "object"}}}};
      server.tools.push_back(std::move(locked));
    }
    lock.servers.push_back(std::move(server));
  }
  return lock;
}

Servers granted(const std::vector<std::string>& grants, const Servers& headers) {
  const auto folder = TemporaryFolder::create(fs::temp_directory_path(), "mcpac-test-").value();
  const Project project{
      .config_file = folder.path() / "mcpac.json", .folder = folder.path(), .config = {}};
  const auto lock = lock_of_two();
  const SystemClock clock;
  PolicyWorld world(project, clock);
  world.tools = tool_schemas(lock);
  policy::LayerText layer;
  layer.name = "the command line";
  layer.grants = grants;
  const auto authority = load_authority(project, world, {layer});
  REQUIRE(authority);
  return granted_servers(headers, lock, *authority);
}

}  // namespace

TEST_SUITE("execute/granted servers") {
  const Servers kBoth = {"files.hpp", "mail_box.hpp"};

  TEST_CASE("a grant of all tools of a server reaches it as one of a tool does") {
    CHECK(granted({"files.*"}, kBoth) == Servers{"files"});
    CHECK(granted({"files.put"}, kBoth) == Servers{"files"});
    CHECK(granted({"mail-box.*"}, kBoth) == Servers{"mail-box"});
    CHECK(granted({"files.get", "mail-box.*"}, kBoth) == Servers{"files", "mail-box"});
  }

  TEST_CASE("what the source does not name is not reached, whatever is granted") {
    CHECK(granted({"files.*", "mail-box.*"}, {"files.hpp"}) == Servers{"files"});
    CHECK(granted({"files.*"}, {}).empty());
  }

  TEST_CASE("without a grant nothing is reached") {
    CHECK(granted({}, kBoth).empty());
  }
}
