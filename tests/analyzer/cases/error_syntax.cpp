#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  int x = ;  // expect: refuses compile-error
  return 0;
}
// verdict: compile_error
