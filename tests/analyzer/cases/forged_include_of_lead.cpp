#ifdef AGAIN
#define kValue 1
#else
#define AGAIN
#define LEAD "/lead/source"
#include LEAD  // expect: refuses foreign-header
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
#endif
