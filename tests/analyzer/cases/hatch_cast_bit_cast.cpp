#include <mcpac.hpp>
#include <bit>
struct Bytes {
  void* at;
};
auto made() {
  return std::bit_cast<mcpac::Method<mcp::filesystem::read_text_file>>(Bytes{});  // expect: refuses capability-cast // expect: refuses forged-type
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
