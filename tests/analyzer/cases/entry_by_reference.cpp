#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file>&) {  // expect: refuses entry-form // declared: filesystem.read_text_file
  return 0;
}
// unused: filesystem.read_text_file
