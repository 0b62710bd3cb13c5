#include <mcpac.hpp>
struct below_data : mcpac::Narrow<mcp::filesystem::read_text_file> { static constexpr char where[] = "path within ./data"; };
struct below_logs : mcpac::Narrow<mcp::filesystem::write_file> { static constexpr char where[] = "path within ./logs, .."; };
std::string careful(mcpac::Requires<below_data> rt, const std::string& name) {  // expect: warns narrow-elsewhere // message: limits nothing here
  return rt.filesystem.read_text_file({.path = "./data/" + name}).text();  // use: filesystem.read_text_file {"path": "?"}
}
void log(const mcpac::Requires<below_logs>& rt) {
  rt.filesystem.write_file({.path = "./logs/a", .content = "c"});  // use: filesystem.write_file {"path": "./logs/a", "content": "c"}
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, below_logs> rt) {  // declared: filesystem.read_text_file // declared: filesystem.write_file where path within ./logs, ..
  log(rt);
  return careful(rt, "a.txt").empty() ? 1 : 0;
}
