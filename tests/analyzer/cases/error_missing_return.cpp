// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::memory::read_graph> rt) {
  rt.memory.read_graph();
}  // expect: refuses compile-error // message: does not return a value
