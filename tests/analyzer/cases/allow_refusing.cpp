#include <mcpac.hpp>
asm("nop");  // mcpac-allow: inline-assembly it is fast // expect: refuses inline-assembly // expect: warns allow-form
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
