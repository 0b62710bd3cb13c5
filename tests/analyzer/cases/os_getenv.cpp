#include <mcpac.hpp>
#include <cstdlib>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const char* home = std::getenv("HOME");  // expect: warns os-call
  (void)home;
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
