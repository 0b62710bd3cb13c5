#include <mcpac.hpp>
int count() { return 1; }
int counted = count();  // expect: note early-code
constexpr int twice(int x) { return 2 * x; }
constexpr int kFour = twice(2);
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
