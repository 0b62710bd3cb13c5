// expect-error: no member named .*write_file
#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  rt.filesystem.write_file({.path = "x", .content = "y"});
  return 0;
}
