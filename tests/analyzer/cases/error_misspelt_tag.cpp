// Where the tool is declared, as where it is called.
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_textfile> rt) {  // expect: refuses compile-error // message: did you mean `mcp::filesystem::read_text_file`? // verdict: compile_error
  return 0;
}
