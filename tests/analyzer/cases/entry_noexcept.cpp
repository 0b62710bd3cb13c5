#include <mcpac.hpp>
[[nodiscard]] int agent_main([[maybe_unused]] mcpac::Requires<mcp::memory::read_graph> rt) noexcept {  // declared: memory.read_graph
  return rt.memory.read_graph.try_call() ? 0 : 1;  // use: memory.read_graph {}
}
