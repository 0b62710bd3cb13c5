#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::memory::read_graph> rt, int n) {  // expect: refuses entry-form // fix: mcpac::argument<std::string>
  (void)rt;
  return n;
}
