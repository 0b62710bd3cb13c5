#include "local_header.hpp"
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  helper(rt);
  return 0;
}
// unused: filesystem.read_text_file
