// Macros that write nothing into a header: none of their names stands there, or they are a number.
#include <mcpac.hpp>
#define GLOB_LIMIT 10
#define globfree 1
#undef globfree
#define SHOWN(text) std::println("{}", text)
#include <assert.h>
#include <glob.h>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  SHOWN(GLOB_LIMIT);
  assert(GLOB_LIMIT > 0);
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
