#include <mcpac.hpp>
#include <functional>
using Reader = mcpac::Requires<mcp::filesystem::read_text_file>;
std::string read_it(Reader rt, const std::string& path) {
  return rt.filesystem.read_text_file({.path = path}).text();  // use: filesystem.read_text_file {"path": "?"}
}
int agent_main(Reader rt) {  // declared: filesystem.read_text_file
  std::function<std::string(Reader, const std::string&)> work = read_it;
  return work(rt, "a").empty() ? 1 : 0;
}
