// expect-error: (deleted|no match|no matching|explicit)
#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  rt.filesystem.read_text_file({.head = 3});
  return 0;
}
