#include <mcpac.hpp>
mcpac::Requires<mcp::filesystem::read_text_file> pattern();
int agent_main(decltype(pattern()) rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
