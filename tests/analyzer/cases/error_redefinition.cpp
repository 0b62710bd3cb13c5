// verdict: compile_error
// Of what the program itself has: no forgery of the headers, though it is the first error.
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  int x = 1;
  int x = 2;  // expect: refuses compile-error
  rt.filesystem.read_text_file({.path = "a"});
  return 0;
}
