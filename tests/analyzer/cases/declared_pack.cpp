#include <mcpac.hpp>
template <class... P> using AllOf = mcpac::Requires<mcp::memory::read_graph, P...>;
int agent_main(AllOf<mcp::filesystem::read_text_file, mcp::filesystem::list_directory> rt) {  // declared: filesystem.list_directory // declared: filesystem.read_text_file // declared: memory.read_graph
  rt.memory.read_graph();  // use: memory.read_graph {}
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  rt.filesystem.list_directory({.path = "d"});  // use: filesystem.list_directory {"path": "d"}
  return 0;
}
