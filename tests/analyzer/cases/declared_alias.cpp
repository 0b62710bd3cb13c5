#include <mcpac.hpp>
using Tag = mcp::filesystem::read_text_file;
typedef mcpac::Requires<Tag> First;
using Second = First;
int agent_main(Second rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
