#include <mcpac.hpp>
int agent_main(std::optional<mcpac::Requires<mcp::memory::read_graph>> rt) {  // expect: refuses entry-form
  (void)rt;
  return 0;
}
