#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  for (const std::string base = "data/"; const char* name : {"a", "b"})
    rt.filesystem.read_text_file({.path = base + name});  // use: filesystem.read_text_file {"path": "data/a"} // use: filesystem.read_text_file {"path": "data/b"}
  return 0;
}
