#include <mcpac.hpp>
extern mcpac::Requires<mcp::memory::read_graph> runtime;  // declared: memory.read_graph
static auto copy = runtime;
int main() { copy.memory.read_graph(); }  // use: memory.read_graph {}
