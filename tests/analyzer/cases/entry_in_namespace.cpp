#include <mcpac.hpp>  // expect: refuses no-entry
namespace mine {
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) { return 0; }
}
