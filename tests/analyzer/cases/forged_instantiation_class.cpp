#include <mcpac.hpp>
template <auto P>
struct Rob {};
template struct Rob<&mcpac::Method<mcp::filesystem::read_text_file>::session_>;  // expect: refuses private-access // expect: refuses forged-type // expect: refuses detail-name
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
