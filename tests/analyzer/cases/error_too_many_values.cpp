// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  rt.filesystem.read_text_file({"a", 1.5, 2, 3});  // expect: refuses compile-error // message: `filesystem.read_text_file` has 3 fields, and here are 4 values
  return 0;
}
