#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  for (const std::string folder : {"x", "y"}) {
    for (const char* file : {"1", "2"}) {
      const std::string path = folder + "/" + file;
      rt.filesystem.read_text_file({.path = path});  // use: filesystem.read_text_file {"path": "x/1"} // use: filesystem.read_text_file {"path": "x/2"} // use: filesystem.read_text_file {"path": "y/1"} // use: filesystem.read_text_file {"path": "y/2"}
    }
  }
  return 0;
}
