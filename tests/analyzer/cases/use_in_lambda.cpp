#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  auto read = [&rt](const std::string& path) {
    return rt.filesystem.read_text_file({.path = path});  // use: filesystem.read_text_file {"path": "?"}
  };
  read("a");
  return 0;
}
