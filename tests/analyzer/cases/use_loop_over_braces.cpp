#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  for (const char* name : {"a", "b"})
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "a"} // use: filesystem.read_text_file {"path": "b"}
  for (std::string_view name : {"c", "d"})
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "c"} // use: filesystem.read_text_file {"path": "d"}
  for (const std::string& name : {std::string("e"), std::string("f")})
    rt.filesystem.read_text_file({.path = "data/" + name});  // use: filesystem.read_text_file {"path": "data/e"} // use: filesystem.read_text_file {"path": "data/f"}
  for (int lines : {1, 2})
    rt.filesystem.read_text_file({.path = "n", .head = lines});  // use: filesystem.read_text_file {"head": 1, "path": "n"} // use: filesystem.read_text_file {"head": 2, "path": "n"}
  return 0;
}
