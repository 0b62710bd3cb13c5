#include <mcpac.hpp>
using mcp::filesystem::read_text_file;
void both(mcpac::Requires<read_text_file, mcp::filesystem::write_file> rt) { (void)rt; }
int agent_main(mcpac::Requires<read_text_file> rt) {
  both(rt);  // expect: refuses compile-error // message: which `Requires<…>` does not hold
  return 0;
}
// verdict: compile_error
