#include <mcpac.hpp>
void save(mcpac::Requires<mcp::filesystem::write_file> rt) {
  rt.filesystem.write_file({.path = "out", .content = "x"});  // expect: refuses undeclared-use // use: filesystem.write_file {"content": "x", "path": "out"}
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
