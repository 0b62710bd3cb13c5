#include <mcpac.hpp>
[[nodiscard]] static int value() { return 1; }
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  [[maybe_unused]] const int unused = value();
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
