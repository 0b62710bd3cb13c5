#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  auto more = mcpac::connect<mcpac::Requires<mcp::filesystem::write_file>>();  // expect: refuses connect-in-agent
  (void)more;
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
