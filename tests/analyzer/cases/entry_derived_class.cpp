#include <mcpac.hpp>
struct Mine : mcpac::Requires<mcp::memory::read_graph> {};
int agent_main(Mine rt) {  // expect: refuses entry-form
  rt.memory.read_graph();  // use: memory.read_graph {}
  return 0;
}
