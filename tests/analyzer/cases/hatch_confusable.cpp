#include <mcpac.hpp>
int payload = 1;
int pаyload = 2;  // expect: refuses confusable-identifier
int \u0430gent_main() { return 0; }  // expect: refuses confusable-identifier
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
