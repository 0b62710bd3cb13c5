#include <mcpac.hpp>
int spаn_of = 1;  // expect: warns mixed-script
int Größe = 1;
int данные = 1;
int Δt = 1;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
