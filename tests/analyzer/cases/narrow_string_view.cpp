#include <mcpac.hpp>
struct listing : mcpac::Narrow<mcp::filesystem::list_directory> {
  static constexpr std::string_view where = "path within ./data";
};
int agent_main(mcpac::Requires<listing> rt) {  // declared: filesystem.list_directory where path within ./data
  rt.filesystem.list_directory({.path = "./data"});  // use: filesystem.list_directory {"path": "./data"}
  return 0;
}
