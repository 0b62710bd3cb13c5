// A reference that a lambda names anew changes the variable of the loop.
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  for (std::string path : {"safe"}) {
    [&other = path] { other = "evil"; }();
    rt.filesystem.read_text_file({.path = path});  // use: filesystem.read_text_file {"path": "?"}
  }
  const int zero[] = {0};
  for (std::string path : {"safe"}) {
    [first = zero[0], &other{path}] { other = std::to_string(first); }();
    rt.filesystem.read_text_file({.path = path});  // use: filesystem.read_text_file {"path": "?"}
  }
  return 0;
}
