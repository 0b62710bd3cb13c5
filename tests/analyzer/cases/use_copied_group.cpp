#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::memory::read_graph> rt) {  // declared: filesystem.read_text_file // declared: memory.read_graph
  const auto files = rt.filesystem;
  files.read_text_file({.path = "g"});  // use: filesystem.read_text_file {"path": "g"}
  const auto* memory = &rt.memory;
  memory->read_graph();  // use: memory.read_graph {}
  const auto copy = files.read_text_file;
  copy({.path = "c"});  // use: filesystem.read_text_file {"path": "c"}
  return 0;
}
