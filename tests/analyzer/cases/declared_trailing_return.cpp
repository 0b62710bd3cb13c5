#include <mcpac.hpp>
using Reader = mcpac::Requires<mcp::filesystem::read_text_file>;
auto agent_main(Reader rt) -> int {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
