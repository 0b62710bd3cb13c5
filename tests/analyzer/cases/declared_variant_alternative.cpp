#include <mcpac.hpp>
#include <variant>
using Role = std::variant<std::monostate, mcpac::Requires<mcp::memory::read_graph>>;
int agent_main(std::variant_alternative_t<1, Role> rt) {  // declared: memory.read_graph
  rt.memory.read_graph();  // use: memory.read_graph {}
  return 0;
}
