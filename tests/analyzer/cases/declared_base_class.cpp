#include <mcpac.hpp>
struct Agent : mcpac::Requires<mcp::filesystem::read_text_file> {
  using Base = mcpac::Requires<mcp::filesystem::read_text_file>;
  explicit Agent(Base rt) : Base(rt) {}
  std::string go() const {
    return filesystem.read_text_file({.path = "base"}).text();  // use: filesystem.read_text_file {"path": "base"}
  }
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  return Agent(rt).go().empty() ? 1 : 0;
}
