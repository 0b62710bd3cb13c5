#include <mcpac.hpp>
namespace mine { extern mcpac::Requires<mcp::memory::read_graph> runtime; }
int main() { return 0; }  // expect: note no-capability
