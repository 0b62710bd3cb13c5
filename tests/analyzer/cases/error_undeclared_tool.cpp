// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  rt.filesystem.write_file({.path = "a", .content = "b"});  // expect: refuses compile-error
  return 0;
}
