#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const mcp::filesystem::read_text_file::Args arguments{.path = "v"};
  rt.filesystem.read_text_file(arguments);  // use: filesystem.read_text_file {"path": "?", "head": "?", "tail": "?"}
  return 0;
}
