#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::write_file> rt) {  // declared: filesystem.write_file
  for (std::string_view name : {"a", "b"})
    rt.filesystem.write_file({.path = name, .content = name});  // use: filesystem.write_file {"content": "a", "path": "a"} // use: filesystem.write_file {"content": "b", "path": "b"}
  return 0;
}
