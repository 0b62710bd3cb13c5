// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  mcpac::Requires<mcp::filesystem::read_text_file, mcp::memory::read_graph> more(rt);  // expect: refuses compile-error // message: memory.read_graph
  return 0;
}
