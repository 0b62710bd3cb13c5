#include <mcpac.hpp>
struct Tools {
  using read = mcp::filesystem::read_text_file;
  using list = mcp::filesystem::list_directory;
};
struct Mine : Tools {};
int agent_main(mcpac::Requires<Mine::read, Mine::list> rt) {  // declared: filesystem.list_directory // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  rt.filesystem.list_directory({.path = "b"});  // use: filesystem.list_directory {"path": "b"}
  return 0;
}
