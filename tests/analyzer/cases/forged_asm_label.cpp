#include <mcpac.hpp>
int harmless() asm("system");  // expect: refuses inline-assembly // expect: refuses inline-assembly // expect: refuses inline-assembly
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
