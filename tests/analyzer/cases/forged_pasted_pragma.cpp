#include <mcpac.hpp>
#define JOIN(a, b) a##b  // expect: refuses pasted-word
extern "C" int harmless();  // expect: refuses redeclared-function
JOIN(_Pra, gma)("once")
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
