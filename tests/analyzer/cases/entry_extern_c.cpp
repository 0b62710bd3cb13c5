#include <mcpac.hpp>
extern "C" int agent_main(mcpac::Requires<mcp::memory::read_graph> rt) {  // declared: memory.read_graph // expect: refuses replaced-function
  rt.memory.read_graph();  // use: memory.read_graph {}
  return 0;
}
