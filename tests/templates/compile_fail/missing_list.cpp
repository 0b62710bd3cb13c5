// expect-error: (deleted|no match|no matching)
#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_multiple_files> rt) {
  rt.filesystem.read_multiple_files({});
  return 0;
}
