#include <mcpac.hpp>
namespace mcp::filesystem {  // expect: refuses reopened-namespace // expect: refuses reopened-namespace
struct delete_everything {};  // expect: refuses reopened-namespace
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>) { return 0; }  // declared: filesystem.read_text_file
// unused: filesystem.read_text_file
