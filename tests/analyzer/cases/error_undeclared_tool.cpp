// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  rt.filesystem.write_file({.path = "a", .content = "b"});  // expect: refuses compile-error // message: `filesystem.write_file` is not in the Requires of this program
  return 0;
}
