// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  rt.filesystem.read_text_file({.pth = "a"});  // expect: refuses compile-error // message: has no argument `pth`; did you mean `path`?
  return 0;
}
