#include <mcpac.hpp>
using Reader = mcpac::Requires<mcp::filesystem::read_text_file>;
const Reader& next(const Reader* rt) {
  return rt[1];  // expect: refuses capability-cast
}
const Reader* further(const Reader* rt) {
  return rt + 1;  // expect: refuses capability-cast
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
