#include <mcpac.hpp>
template <class... P>
std::size_t count(const mcpac::Requires<P...>& rt) {
  if constexpr (mcpac::Requires<P...>::template has<mcp::memory::read_graph>()) {
    rt.memory.read_graph();  // use: memory.read_graph {}
  }
  return sizeof...(P);
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::memory::read_graph> rt) {  // declared: filesystem.read_text_file // declared: memory.read_graph
  return static_cast<int>(count(rt));
}
// unused: filesystem.read_text_file
