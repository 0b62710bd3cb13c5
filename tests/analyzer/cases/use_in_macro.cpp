#include <mcpac.hpp>
#define READ(name) rt.filesystem.read_text_file({.path = "data/" name}).text()
#define TOOL(server, tool, ...) rt.server.tool(__VA_ARGS__)
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::list_directory> rt) {  // declared: filesystem.list_directory // declared: filesystem.read_text_file
  const std::string text = READ("a.txt");  // use: filesystem.read_text_file {"path": "data/a.txt"}
  TOOL(filesystem, list_directory, {.path = "data"});  // use: filesystem.list_directory {"path": "data"}
  return text.empty() ? 1 : 0;
}
