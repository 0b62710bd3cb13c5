#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file.operator()({.path = "o"});  // use: filesystem.read_text_file {"path": "o"}
  (&rt)->filesystem.read_text_file.async({.path = "p"}).wait();  // use: filesystem.read_text_file {"path": "p"}
  (*&rt.filesystem.read_text_file)({.path = "q"});  // use: filesystem.read_text_file {"path": "q"}
  return 0;
}
