#include <mcpac.hpp>
namespace mcpac {  // expect: refuses reopened-namespace
inline namespace v2 {  // expect: refuses reopened-namespace
struct Evil {};  // expect: refuses reopened-namespace
}
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
