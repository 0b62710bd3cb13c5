#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) { return 0; }
extern mcpac::Requires<mcp::filesystem::write_file> runtime;  // expect: refuses two-entries
