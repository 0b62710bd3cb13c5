#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  auto& read = rt.filesystem.read_text_file;
  read({.path = "r"});  // use: filesystem.read_text_file {"path": "r"}
  return 0;
}
