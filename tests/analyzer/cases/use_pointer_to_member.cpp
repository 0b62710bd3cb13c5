#include <mcpac.hpp>
#include <functional>
using Read = mcp::filesystem::read_text_file;
using R = mcpac::Requires<Read, mcp::memory::read_graph>;
int agent_main(R rt) {  // declared: filesystem.read_text_file // declared: memory.read_graph
  const auto async = static_cast<mcpac::Future<Read::Result> (mcpac::Method<Read>::*)(const Read::Args&) const>(&mcpac::Method<Read>::async);  // use: filesystem.read_text_file {"head": "?", "path": "?", "tail": "?"}
  (rt.filesystem.read_text_file.*async)({.path = "m"}).wait();  // use: filesystem.read_text_file {"head": "?", "path": "?", "tail": "?"}
  const auto graph = &decltype(rt.memory)::read_graph;  // use: memory.read_graph {}
  (rt.memory.*graph)();  // use: memory.read_graph {} // use: memory.read_graph {}
  return std::invoke(graph, rt.memory)().text().empty() ? 1 : 0;  // use: memory.read_graph {} // use: memory.read_graph {}
}
