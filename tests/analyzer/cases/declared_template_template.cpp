#include <mcpac.hpp>
template <template <class...> class Holder, class... P>
using Fill = Holder<P...>;
int agent_main(Fill<mcpac::Requires, mcp::memory::read_graph> rt) {  // declared: memory.read_graph
  rt.memory.read_graph();  // use: memory.read_graph {}
  return 0;
}
