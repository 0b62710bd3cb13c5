// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {
  rt.filesystem.read_text_file.async({.path = "a", .head = "5"});  // expect: refuses compile-error // message: `head` is a number (double), not text // fix: ({.path = "a", .head = 5})
  return 0;
}
