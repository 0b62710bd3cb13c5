#include <mcpac.hpp>
template <class Tool, class... Args>
auto twice(const Tool& tool, const Args&... args) {
  tool(args...);  // use: filesystem.read_text_file {"head": "?", "path": "?", "tail": "?"}
  return tool(args...);  // use: filesystem.read_text_file {"head": "?", "path": "?", "tail": "?"}
}
template <auto Member>
struct Caller {
  static auto call(const auto& rt) { return (rt.memory.*Member)(); }  // use: memory.read_graph {}
};
using R = mcpac::Requires<mcp::filesystem::read_text_file, mcp::memory::read_graph>;
int agent_main(R rt) {  // declared: filesystem.read_text_file // declared: memory.read_graph
  twice(rt.filesystem.read_text_file, mcp::filesystem::read_text_file::Args{.path = "w"});
  Caller<&decltype(rt.memory)::read_graph>::call(rt);
  return 0;
}
