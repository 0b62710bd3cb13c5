#include <mcpac.hpp>
import std;  // expect: refuses module-import // expect: refuses compile-error
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) { return 0; }
