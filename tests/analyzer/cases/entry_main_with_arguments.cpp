#include <mcpac.hpp>
extern mcpac::Requires<mcp::memory::read_graph> runtime;  // declared: memory.read_graph
int main(int argc, char** argv) {
  (void)argv;
  runtime.memory.read_graph();  // use: memory.read_graph {}
  return argc > 5 ? 1 : 0;
}
