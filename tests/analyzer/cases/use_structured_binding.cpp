#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const auto& [read] = rt.filesystem;
  read({.path = "s"});  // use: filesystem.read_text_file {"path": "s"}
  const auto use = [](const auto& tool) { return tool.try_call({.path = "t"}).has_value(); };  // use: filesystem.read_text_file {"path": "t"}
  return use(read) ? 0 : 1;
}
