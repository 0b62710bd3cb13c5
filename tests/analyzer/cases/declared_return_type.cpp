#include <mcpac.hpp>
mcpac::Requires<mcp::filesystem::read_text_file> only_reading(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {
  return rt;
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {  // declared: filesystem.read_text_file // declared: filesystem.write_file
  const auto reader = only_reading(rt);
  reader.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  rt.filesystem.write_file({.path = "b", .content = "c"});  // use: filesystem.write_file {"content": "c", "path": "b"}
  return 0;
}
