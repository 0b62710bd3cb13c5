#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file, filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
