#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) { return 0; }
int agent_main(mcpac::Requires<mcp::filesystem::write_file>) { return 0; }  // expect: refuses two-entries
