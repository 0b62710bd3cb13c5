#include <mcpac.hpp>
#include <new>
using Reader = mcpac::Requires<mcp::filesystem::read_text_file>;
void again(Reader& rt) {
  new (&rt) Reader(rt);  // expect: refuses capability-cast
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
