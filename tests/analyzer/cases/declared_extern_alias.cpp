#include <mcpac.hpp>
namespace work { using Wanted = mcpac::Requires<mcp::filesystem::read_text_file, mcp::memory::read_graph>; }
extern work::Wanted runtime;  // declared: filesystem.read_text_file // declared: memory.read_graph
int main() {
  runtime.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  runtime.memory.read_graph();  // use: memory.read_graph {}
}
