#include <mcpac.hpp>
#include <type_traits>
int agent_main(std::conditional_t<true, mcpac::Requires<mcp::filesystem::read_text_file>, int> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
