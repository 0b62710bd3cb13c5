#include <mcpac.hpp>
namespace fs = mcp::filesystem;
int agent_main(mcpac::Requires<fs::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
