// A macro of the program is the program's text.
#include <mcpac.hpp>
#define GROW __resize_default_init
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) {  // declared: filesystem.read_text_file // unused: filesystem.read_text_file
  std::string text;
  text.GROW(3);  // expect: refuses library-internals
  return 0;
}
