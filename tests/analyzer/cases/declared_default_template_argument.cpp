#include <mcpac.hpp>
template <class First = mcp::filesystem::read_text_file, class Second = mcp::filesystem::write_file>
using Usual = mcpac::Requires<First, Second>;
int agent_main(Usual<> rt) {  // declared: filesystem.read_text_file // declared: filesystem.write_file
  rt.filesystem.write_file({.path = "b", .content = "x"});  // use: filesystem.write_file {"content": "x", "path": "b"}
  return 0;
}
// unused: filesystem.read_text_file
