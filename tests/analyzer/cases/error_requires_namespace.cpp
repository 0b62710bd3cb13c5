// verdict: compile_error
#include <mcpac.hpp>
int agent_main(Requires<mcp::filesystem::read_text_file> rt) {  // expect: refuses compile-error // message: `Requires` stands in the namespace mcpac
  return 0;
}
