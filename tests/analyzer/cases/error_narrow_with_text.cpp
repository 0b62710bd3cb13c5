// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcpac::Narrow<mcp::filesystem::read_text_file, int>> rt) {  // expect: refuses compile-error // message: its condition is its member `where`
  return 0;
}
