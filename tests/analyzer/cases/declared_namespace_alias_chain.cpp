#include <mcpac.hpp>
namespace runtime_headers = mcpac;
namespace m = mcp;
namespace files = m::filesystem;
int agent_main(runtime_headers::Requires<files::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
