#include <mcpac.hpp>
inline int agent_main(mcpac::Requires<mcp::memory::read_graph> rt) {  // declared: memory.read_graph
  rt.memory.read_graph();  // use: memory.read_graph {}
  return 0;
}
