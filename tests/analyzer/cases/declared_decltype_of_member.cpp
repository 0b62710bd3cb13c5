#include <mcpac.hpp>
struct Plan {
  mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::list_directory> rt;
};
int agent_main(decltype(Plan::rt) rt) {  // declared: filesystem.list_directory // declared: filesystem.read_text_file
  rt.filesystem.list_directory({.path = "d"});  // use: filesystem.list_directory {"path": "d"}
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
