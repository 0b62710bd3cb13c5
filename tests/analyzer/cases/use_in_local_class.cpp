#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  struct Local {
    mcpac::Requires<mcp::filesystem::read_text_file> rt;
    std::string go() const { return rt.filesystem.read_text_file({.path = "l"}).text(); }  // use: filesystem.read_text_file {"path": "l"}
    static std::string fixed(mcpac::Requires<mcp::filesystem::read_text_file> rt) { return rt.filesystem.read_text_file({.path = "s"}).text(); }  // use: filesystem.read_text_file {"path": "s"}
  };
  return Local{rt}.go() == Local::fixed(rt) ? 0 : 1;
}
