// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {
  rt.filesystem.read_txt_file({.path = "a"});  // expect: refuses compile-error // message: did you mean `read_text_file`?
  return 0;
}
