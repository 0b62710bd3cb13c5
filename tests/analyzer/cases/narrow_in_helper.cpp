#include <mcpac.hpp>
struct below_data : mcpac::Narrow<mcp::filesystem::read_text_file> { static constexpr char where[] = "path within ./data"; };
std::string careful(mcpac::Requires<below_data> rt, const std::string& name) {
  return rt.filesystem.read_text_file({.path = "./data/" + name}).text();  // use: filesystem.read_text_file {"path": "?"}
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  return careful(rt, "a.txt").empty() ? 1 : 0;
}
