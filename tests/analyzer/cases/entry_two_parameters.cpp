#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::memory::read_graph> rt, int n) {  // expect: refuses entry-form
  (void)rt;
  return n;
}
