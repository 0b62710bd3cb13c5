#include <mcpac.hpp>
#include <sys/cdefs.h>
__attribute__((__CONCAT(con, structor))) void early() {}  // expect: refuses attribute
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
