// expect-error: (no match for call|no matching function)
#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  rt.filesystem.read_text_file();
  return 0;
}
