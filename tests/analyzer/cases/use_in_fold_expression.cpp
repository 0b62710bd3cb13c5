#include <mcpac.hpp>
template <class... Names>
std::size_t sizes(const mcpac::Requires<mcp::filesystem::read_text_file>& rt, Names... names) {
  return (rt.filesystem.read_text_file({.path = names}).text().size() + ...);  // use: filesystem.read_text_file {"path": "?"}
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  return static_cast<int>(sizes(rt, "a", "b"));
}
