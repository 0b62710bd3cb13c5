// verdict: compile_error
#include <mcpac.hpp>
using namespace mcp;
using Both = mcpac::Requires<filesystem::list_directory, memory::read_graph>;
void both(Both) {}
int agent_main(mcpac::Requires<filesystem::list_directory, filesystem::edit_file> rt) {
  both(rt);  // expect: refuses compile-error // message: `both` needs memory.read_graph, which // fix: add mcp::memory::read_graph to
  return 0;
}
