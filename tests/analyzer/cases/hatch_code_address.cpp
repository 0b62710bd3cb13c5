#include <mcpac.hpp>
void call(unsigned long to) {
  reinterpret_cast<void (*)()>(to)();  // expect: refuses code-pointer
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
