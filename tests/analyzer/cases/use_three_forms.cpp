#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  (void)rt.filesystem.read_text_file.async({.path = "b"});  // use: filesystem.read_text_file {"path": "b"}
  (void)rt.filesystem.read_text_file.try_call({.path = "c", .head = 3});  // use: filesystem.read_text_file {"path": "c", "head": 3}
  return 0;
}
