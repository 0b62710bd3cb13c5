#include <mcpac.hpp>
void call(void* to) {
  ((int (*)(int))to)(1);  // expect: refuses code-pointer
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
