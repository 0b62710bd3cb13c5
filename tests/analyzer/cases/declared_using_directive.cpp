#include <mcpac.hpp>
using namespace mcp;
using mcpac::Requires;
int agent_main(Requires<filesystem::read_text_file, memory::read_graph> rt) {  // declared: filesystem.read_text_file // declared: memory.read_graph
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  rt.memory.read_graph();  // use: memory.read_graph {}
  return 0;
}
