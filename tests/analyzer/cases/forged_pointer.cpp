#include <mcpac.hpp>
using Writer = mcpac::Requires<mcp::filesystem::write_file>;
Writer* forged = nullptr;
void call() {
  forged->filesystem.write_file({.path = "x", .content = "y"});  // use: filesystem.write_file {"path": "x", "content": "y"} // expect: refuses undeclared-use
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
