// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::memory::read_graph> rt) {
  rt.memory.read_graph();
}  // expect: refuses compile-error // message: does not return a value // message: this function ends without its `return` // fix: an int agent_main: return 0;
int sometimes(int number) {
  if (number > 1) return 2;
}  // expect: refuses compile-error // message: one way through this function ends without a `return`
