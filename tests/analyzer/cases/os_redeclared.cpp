#include <mcpac.hpp>
extern "C" int system(const char*);  // expect: refuses redeclared-function
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  system("id");  // expect: warns os-call
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
