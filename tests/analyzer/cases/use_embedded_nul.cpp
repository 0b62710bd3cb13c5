#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  using namespace std::literals;
  rt.filesystem.read_text_file({.path = "a\0b"s});  // use: filesystem.read_text_file {"path": "?"}
  return 0;
}
