#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  for (const auto& line : rt.filesystem.read_text_file({.path = "list"}).lines())  // use: filesystem.read_text_file {"path": "list"}
    rt.filesystem.read_text_file({.path = line, .head = 1 + 2});  // use: filesystem.read_text_file {"path": "?", "head": 3}
  return 0;
}
