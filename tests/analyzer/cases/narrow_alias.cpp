#include <mcpac.hpp>
template <class T> using Less = mcpac::Narrow<T>;
struct listing : Less<mcp::filesystem::list_directory> {
  static constexpr char where[] = "path == \"./data\"";
};
using Only = listing;
int agent_main(mcpac::Requires<Only> rt) {  // declared: filesystem.list_directory where path == "./data"
  rt.filesystem.list_directory({.path = "./data"});  // use: filesystem.list_directory {"path": "./data"}
  return 0;
}
