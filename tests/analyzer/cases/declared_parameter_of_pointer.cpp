#include <mcpac.hpp>
void read_through(const mcpac::Requires<mcp::filesystem::read_text_file>* rt) {
  if (rt != nullptr) rt->filesystem.read_text_file({.path = "p"});  // use: filesystem.read_text_file {"path": "p"}
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  read_through(&rt);
  return 0;
}
