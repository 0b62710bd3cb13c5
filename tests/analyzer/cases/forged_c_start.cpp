#include <mcpac.hpp>
extern "C" {
void _start() {}  // expect: refuses replaced-function
void __wrap_send() {}  // expect: refuses replaced-function
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
