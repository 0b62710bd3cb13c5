#include <mcpac.hpp>
template <auto P>
inline int rob = 0;
template int rob<&mcpac::Method<mcp::filesystem::read_text_file>::session_>;  // expect: refuses explicit-instantiation
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
