#include <mcpac.hpp>
std::string head(const auto& rt, auto lines) {
  return rt.filesystem.read_text_file({.path = "c", .head = lines}).text();  // use: filesystem.read_text_file {"head": "?", "path": "c"}
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  return head(rt, 3).empty() ? 1 : 0;
}
