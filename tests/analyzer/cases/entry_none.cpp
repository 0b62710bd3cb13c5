#include <mcpac.hpp>  // expect: refuses no-entry
void work(mcpac::Requires<mcp::filesystem::read_text_file>) {}
