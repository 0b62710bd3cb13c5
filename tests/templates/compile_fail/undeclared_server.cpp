// expect-error: no member named .*memory
#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  rt.memory.read_graph();
  return 0;
}
