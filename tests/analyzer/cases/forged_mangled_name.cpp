#include <mcpac.hpp>
extern "C" void _ZN5mcpac3logEv();  // expect: refuses redeclared-function
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
