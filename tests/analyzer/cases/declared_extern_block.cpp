#include <mcpac.hpp>
extern "C++" {
extern mcpac::Requires<mcp::memory::read_graph> runtime;  // declared: memory.read_graph
}
int main() { runtime.memory.read_graph(); }  // use: memory.read_graph {}
