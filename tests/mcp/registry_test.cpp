// The client against servers from the npm registry, pinned in tests/servers/package.json.
#include <doctest/doctest.h>

#include <algorithm>

#include "core/file.h"
#include "mcp/support.h"

using namespace mcpac;
using namespace std::chrono_literals;

namespace {

mcp::ServerConfig installed(const std::string& name, std::vector<std::string> arguments = {}) {
  mcp::ServerConfig config;
  config.name = name;
  config.command =
      (test::servers_folder() / "node_modules" / ".bin" / ("mcp-server-" + name)).string();
  config.arguments = std::move(arguments);
  REQUIRE_MESSAGE(std::filesystem::exists(config.command),
                  "run: npm ci --prefix tests/servers --ignore-scripts");
  return config;
}

struct Talk {
  boost::asio::io_context loop;
  std::unique_ptr<mcp::Client> client;
  explicit Talk(mcp::ServerConfig config) {
    auto made = test::run(loop, mcp::Client::connect(loop.get_executor(), std::move(config)));
    REQUIRE_MESSAGE(made.has_value(), test::shown(made));
    client = std::move(*made);
  }
  ~Talk() {
    test::run(loop, client->close());
    CHECK(test::children().empty());
  }
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;
  std::vector<std::string> names() {
    auto listing = test::run(loop, client->list_tools());
    REQUIRE_MESSAGE(listing.has_value(), test::shown(listing));
    std::vector<std::string> out;
    for (const auto& tool : listing->tools) out.push_back(tool.name);
    return out;
  }
  std::string call(const std::string& tool, const Json& arguments) {
    return test::text_of(test::run(loop, client->call_tool(tool, arguments, 30s)));
  }
};

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

TEST_SUITE("mcp/registry") {
  TEST_CASE("server-filesystem lists its tools and reads a file") {
    auto folder = TemporaryFolder::create("/tmp", "mcpac-test-");
    REQUIRE(folder.has_value());
    const auto path = (folder->path() / "note.txt").string();
    REQUIRE(write_file_atomic(path, "from the file").has_value());
    Talk server(installed("filesystem", {folder->path().string()}));
    CHECK(has(server.names(), "read_text_file"));
    CHECK(server.call("read_text_file", {{"path", path}}) == "from the file");
    CHECK(server.call("read_text_file", {{"path", "/etc/passwd"}}).find("denied") !=
          std::string::npos);
  }

  TEST_CASE("server-everything echoes") {
    Talk server(installed("everything"));
    CHECK(has(server.names(), "echo"));
    CHECK(server.call("echo", {{"message", "hello"}}) == "Echo: hello");
  }

  TEST_CASE("server-memory keeps a graph") {
    auto folder = TemporaryFolder::create("/tmp", "mcpac-test-");
    REQUIRE(folder.has_value());
    auto config = installed("memory");
    config.environment = {{"MEMORY_FILE_PATH", (folder->path() / "graph.json").string()}};
    Talk server(config);
    Json entity = {
        {"name", "mcpac"}, {"entityType", "program"}, {"observations", Json::array({"new"})}};
    Json arguments = Json::object();
    arguments["entities"] = Json::array({entity});
    CHECK(server.call("create_entities", arguments).find("mcpac") != std::string::npos);
    CHECK(server.call("read_graph", Json::object()).find("program") != std::string::npos);
  }
}
