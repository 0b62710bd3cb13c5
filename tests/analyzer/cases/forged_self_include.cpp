#ifdef AGAIN
#define kValue 1
#else
#define AGAIN
#include "forged_self_include.cpp"  // expect: refuses self-include
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
#endif
