#include <mcpac.hpp>
template <class R>
void all(const R& rt) {
  for (const char* name : {"a", "b"})
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "a"} // use: filesystem.read_text_file {"path": "b"}
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  all(rt);
  return 0;
}
