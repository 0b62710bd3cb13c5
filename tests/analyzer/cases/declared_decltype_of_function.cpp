#include <mcpac.hpp>
mcpac::Requires<mcp::filesystem::read_text_file> wanted();
int agent_main(decltype(wanted()) rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
