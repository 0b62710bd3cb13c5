#include <mcpac.hpp>
#include <bit>
void call(unsigned long to) {
  std::bit_cast<void (*)()>(to)();  // expect: refuses code-pointer
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
