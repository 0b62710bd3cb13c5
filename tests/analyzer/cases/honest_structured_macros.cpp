#include <mcpac.hpp>
#include <cassert>
#define TWICE(x) ((x) + (x))
#define EMPTY
EMPTY;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  assert(TWICE(2) == 4);
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
