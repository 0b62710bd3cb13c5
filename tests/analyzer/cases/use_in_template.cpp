#include <mcpac.hpp>
template <class R>
void work(R& rt) {
  rt.filesystem.read_text_file({.path = "t"});  // use: filesystem.read_text_file {"path": "t"}
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  work(rt);
  return 0;
}
