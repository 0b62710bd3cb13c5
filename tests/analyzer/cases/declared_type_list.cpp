#include <mcpac.hpp>
template <class... T> struct List {};
template <class A, class B> struct Joined;
template <class... A, class... B> struct Joined<List<A...>, List<B...>> { using type = mcpac::Requires<A..., B...>; };
using Reads = List<mcp::filesystem::read_text_file>;
using Graph = List<mcp::memory::read_graph>;
int agent_main(Joined<Reads, Graph>::type rt) {  // declared: filesystem.read_text_file // declared: memory.read_graph
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  rt.memory.read_graph();  // use: memory.read_graph {}
  return 0;
}
