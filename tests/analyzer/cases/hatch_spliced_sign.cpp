// A directive that begins with a sign which a backslash parts is one for clang.
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) { return 0; }  // declared: filesystem.read_text_file // unused: filesystem.read_text_file
/* // expect: refuses pasted-word // */ %\
:define private public
