#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  try {
    rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  } catch (const mcpac::Denied& denied) {
    mcpac::log(denied.what());
  }
  return 0;
}
