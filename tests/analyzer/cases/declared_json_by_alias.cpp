#include <mcpac.hpp>
using Answer = mcpac::Json;
Answer agent_main(const mcpac::Requires<mcp::memory::read_graph>& rt) {  // declared: memory.read_graph
  return rt.memory.read_graph().json();  // use: memory.read_graph {}
}
