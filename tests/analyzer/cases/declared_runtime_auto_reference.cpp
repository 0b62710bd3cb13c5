#include <mcpac.hpp>
extern mcpac::Requires<mcp::memory::read_graph> runtime;  // declared: memory.read_graph
static const auto& graph = runtime.memory;
int main() { graph.read_graph(); }  // use: memory.read_graph {}
