#include <mcpac.hpp>
using mcpac::Requires;
using mcp::filesystem::read_text_file;
namespace fs = mcp::filesystem;
using ReadTool = fs::read_text_file;
int agent_main(Requires<ReadTool, fs::list_directory, read_text_file> rt) {  // declared: filesystem.list_directory // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
// unused: filesystem.list_directory
