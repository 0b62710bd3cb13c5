#include <mcpac.hpp>
#define BELOW(folder) "path within " folder
struct listing : mcpac::Narrow<mcp::filesystem::list_directory> {
  static constexpr char where[] = BELOW("./data");
};
int agent_main(mcpac::Requires<listing> rt) {  // declared: filesystem.list_directory where path within ./data
  rt.filesystem.list_directory({.path = "./data/sub"});  // use: filesystem.list_directory {"path": "./data/sub"}
  return 0;
}
