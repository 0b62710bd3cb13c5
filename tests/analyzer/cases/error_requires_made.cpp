// verdict: compile_error
#include <mcpac.hpp>
mcpac::Requires<mcp::filesystem::read_text_file> made;  // expect: refuses compile-error // message: a Requires cannot be made
int agent_main(mcpac::Requires<>) {
  return 0;
}
