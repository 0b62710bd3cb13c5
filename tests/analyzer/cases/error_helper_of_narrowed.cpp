// verdict: compile_error
#include <mcpac.hpp>
using namespace mcp;
struct read_data : mcpac::Narrow<filesystem::read_text_file> {
  static constexpr char where[] = "path within ./data";
};
void helper(mcpac::Requires<filesystem::read_text_file>, int) {}
void lists(mcpac::Requires<filesystem::read_text_file, filesystem::list_directory>, int) {}
int agent_main(mcpac::Requires<read_data> rt) {
  helper(rt, 1);  // expect: refuses compile-error // message: `helper` needs filesystem.read_text_file, which `Requires<read_data>` does not hold // fix: take read_data in place of mcp::filesystem::read_text_file in the Requires there
  lists(rt, 1);  // expect: refuses compile-error // message: `lists` needs filesystem.read_text_file // fix: add mcp::filesystem::list_directory to the Requires of the entry
  return 0;
}
