#include <mcpac.hpp>
using mcp::filesystem::list_directory_with_sizes;
int agent_main(mcpac::Requires<list_directory_with_sizes> rt) {  // declared: filesystem.list_directory_with_sizes
  rt.filesystem.list_directory_with_sizes({.path = "x", .sortBy = list_directory_with_sizes::Args::SortBy::size});  // use: filesystem.list_directory_with_sizes {"path": "x", "sortBy": "size"}
  return 0;
}
