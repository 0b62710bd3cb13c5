#include <mcpac.hpp>
#define MAKE template  // expect: refuses explicit-instantiation
template <auto P>
void rob() {}
MAKE void rob<&mcpac::Method<mcp::filesystem::read_text_file>::session_>();
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
