#include <mcpac.hpp>
extern "C" long write(int, const void*, unsigned long size) { return static_cast<long>(size); }  // expect: refuses replaced-function
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
