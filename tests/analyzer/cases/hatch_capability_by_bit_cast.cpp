// The address of a capability as a number, and as something that is caught by void*.
#include <mcpac.hpp>
#include <bit>
#include <cstdint>
using Rt = mcpac::Requires<mcp::filesystem::read_text_file>;
std::uintptr_t where(Rt& rt) {
  return std::bit_cast<std::uintptr_t>(&rt);  // expect: refuses capability-cast
}
void hand_on(Rt& rt) {
  throw &rt;  // expect: refuses capability-cast
}
int agent_main(Rt rt) {  // declared: filesystem.read_text_file // unused: filesystem.read_text_file
  return where(rt) == 0 ? 1 : 0;
}
