#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  for (const char* name : {"a", "b"}) {
    const auto read = [&] { return rt.filesystem.read_text_file({.path = name}).text(); };  // use: filesystem.read_text_file {"path": "a"} // use: filesystem.read_text_file {"path": "b"}
    if (read().empty()) return 1;
  }
  return 0;
}
