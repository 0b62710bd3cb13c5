#include <mcpac.hpp>
#include <functional>
using R = mcpac::Requires<mcp::memory::read_graph>;
int agent_main(R rt) {  // declared: memory.read_graph
  const auto graph = &decltype(rt.memory)::read_graph;
  (rt.memory.*graph)();  // use: memory.read_graph {}
  return std::invoke(graph, rt.memory)().text().empty() ? 1 : 0;  // use: memory.read_graph {} // use: memory.read_graph {}
}
