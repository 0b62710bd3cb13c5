#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::memory::read_graph> rt) {  // declared: filesystem.read_text_file // declared: memory.read_graph
  const auto read = [](mcpac::Requires<mcp::filesystem::read_text_file> narrow) {
    return narrow.filesystem.read_text_file({.path = "l"}).text();  // use: filesystem.read_text_file {"path": "l"}
  };
  const auto graph = [rt = mcpac::Requires<mcp::memory::read_graph>(rt)] { rt.memory.read_graph(); };  // use: memory.read_graph {}
  graph();
  return read(rt).empty() ? 1 : 0;
}
