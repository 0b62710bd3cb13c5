#include <mcpac.hpp>
template <class R>
concept Reads = requires(R rt) { rt.filesystem.read_text_file({.path = "x"}); };
template <class R>
void maybe(const R& rt) {
  if constexpr (requires { rt.memory.read_graph(); }) rt.memory.read_graph();
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  static_assert(Reads<decltype(rt)>);
  maybe(rt);
  return 0;
}
// unused: filesystem.read_text_file
