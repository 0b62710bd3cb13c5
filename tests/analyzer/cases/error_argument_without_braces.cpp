// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  rt.filesystem.read_text_file("a.txt");  // expect: refuses compile-error // message: the arguments of `filesystem.read_text_file` stand in braces with their names // fix: ({.path = "a.txt"})
  return 0;
}
