#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::write_file, mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file // declared: filesystem.write_file
  rt.filesystem.write_file({"p", "c"});  // use: filesystem.write_file {"content": "c", "path": "p"}
  rt.filesystem.read_text_file(mcp::filesystem::read_text_file::Args{"p", 3});  // use: filesystem.read_text_file {"path": "p", "tail": 3}
  rt.filesystem.write_file(mcp::filesystem::write_file::Args{.path = "q", .content = "d"});  // use: filesystem.write_file {"content": "d", "path": "q"}
  return 0;
}
