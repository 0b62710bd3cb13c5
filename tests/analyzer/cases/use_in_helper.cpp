#include <mcpac.hpp>
std::string head_of(mcpac::Requires<mcp::filesystem::read_text_file> rt, const std::string& path) {
  return rt.filesystem.read_text_file({.path = path, .head = 5}).text();  // use: filesystem.read_text_file {"path": "?", "head": 5}
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {  // declared: filesystem.read_text_file // declared: filesystem.write_file
  head_of(rt, "a");
  return 0;
}
// unused: filesystem.write_file
