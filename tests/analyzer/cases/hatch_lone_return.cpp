// A carriage return alone ends a line for clang, and for no editor.
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) { return 0; }  // declared: filesystem.read_text_file // unused: filesystem.read_text_file
int x;#define private public  // expect: refuses invisible-character
