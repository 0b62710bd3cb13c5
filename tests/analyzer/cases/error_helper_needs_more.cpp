// verdict: compile_error
#include <mcpac.hpp>
using namespace mcp;
void helper(mcpac::Requires<filesystem::read_text_file>, int) {}
int agent_main(mcpac::Requires<filesystem::list_directory> rt) {
  helper(rt, 1);  // expect: refuses compile-error // message: `helper` needs filesystem.read_text_file, which `Requires<filesystem::list_directory>` does not hold // fix: add mcp::filesystem::read_text_file to the Requires of the entry
  return 0;
}
