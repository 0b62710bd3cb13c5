#include <mcpac.hpp>
#include <csetjmp>
void leap(std::jmp_buf& to) { std::longjmp(to, 1); }  // expect: warns os-call
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
