#include <mcpac.hpp>
template <int N>
std::string first(const mcpac::Requires<mcp::filesystem::read_text_file>& rt) {
  return rt.filesystem.read_text_file({.path = "n", .head = N}).text();  // use: filesystem.read_text_file {"head": 1, "path": "n"} // use: filesystem.read_text_file {"head": 2, "path": "n"}
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  return (first<1>(rt) + first<2>(rt) + first<2>(rt)).empty() ? 1 : 0;
}
