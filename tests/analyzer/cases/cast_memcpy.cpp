#include <mcpac.hpp>
#include <cstring>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  char bytes[8];
  std::memcpy(bytes, &rt, sizeof rt);  // expect: refuses capability-cast
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
