#include <mcpac.hpp>
constexpr bool kEven = __TIME__[7] % 2 == 0;  // expect: refuses build-clock
const char* kDay = __DATE__;  // expect: refuses build-clock
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
