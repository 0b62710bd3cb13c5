#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::memory::read_graph> rt);  // expect: refuses no-entry
