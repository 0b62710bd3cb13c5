#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  auto work = [](auto& any) {
    any.filesystem.read_text_file({.path = "g"});  // use: filesystem.read_text_file {"path": "g"}
  };
  work(rt);
  return 0;
}
