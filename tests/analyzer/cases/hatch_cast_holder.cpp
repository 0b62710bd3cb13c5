#include <mcpac.hpp>
struct Holder {
  mcpac::Requires<mcp::filesystem::read_text_file> rt;
};
char* bytes(Holder& holder) {
  return reinterpret_cast<char*>(&holder);  // expect: refuses capability-cast
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
