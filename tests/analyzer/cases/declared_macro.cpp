#include <mcpac.hpp>
#define PERMISSION mcp::filesystem::read_text_file
int agent_main(mcpac::Requires<PERMISSION> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
