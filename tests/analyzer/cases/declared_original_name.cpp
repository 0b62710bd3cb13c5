#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::forms::everything>) {  // declared: forms.every/thing
  return 0;
}
// unused: forms.every/thing
