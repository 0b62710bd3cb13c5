#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::list_directory> rt) {  // declared: filesystem.list_directory // declared: filesystem.read_text_file
  const auto call = []<class Tool>(const Tool& tool, auto path) { return tool({.path = path}).text(); };  // use: filesystem.list_directory {"path": "?"} // use: filesystem.read_text_file {"path": "?"}
  const auto text = call(rt.filesystem.read_text_file, "a") + call(rt.filesystem.list_directory, "b");
  return text.empty() ? 1 : 0;
}
