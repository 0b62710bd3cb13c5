#include <mcpac.hpp>
template <class... P>
using With = mcpac::Requires<mcp::filesystem::read_text_file, P...>;
int agent_main(With<mcp::filesystem::write_file> rt) {  // declared: filesystem.read_text_file // declared: filesystem.write_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
// unused: filesystem.write_file
