#include <mcpac.hpp>
#define JOIN(a, b) a##b
#define EARLY __attribute__((JOIN(con, structor)))  // expect: refuses attribute
EARLY void early() {}  // expect: refuses attribute
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
