// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {
  rt.filesystm.read_text_file({.path = "a"});  // expect: refuses compile-error // message: no server of the generated headers; did you mean `filesystem`?
  return 0;
}
