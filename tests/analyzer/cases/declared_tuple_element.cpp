#include <mcpac.hpp>
#include <tuple>
using Roles = std::tuple<mcpac::Requires<mcp::filesystem::read_text_file>, mcpac::Requires<mcp::filesystem::write_file>>;
int agent_main(std::tuple_element_t<0, Roles> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
