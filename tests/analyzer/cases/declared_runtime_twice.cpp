#include <mcpac.hpp>
extern mcpac::Requires<mcp::memory::read_graph> runtime;  // declared: memory.read_graph
extern mcpac::Requires<mcp::memory::read_graph> runtime;
int main() { runtime.memory.read_graph(); }  // use: memory.read_graph {}
