#include <mcpac.hpp>
struct Sly {
  operator std::string() const { return "/etc/passwd"; }
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = Sly()});  // use: filesystem.read_text_file {"path": "?"}
  return 0;
}
