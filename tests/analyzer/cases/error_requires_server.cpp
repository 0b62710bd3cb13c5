// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem> rt) {  // expect: refuses compile-error // message: `filesystem` is a server, and a Requires lists tools
  return 0;
}
