// expect-error: (.pth.)
#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  rt.filesystem.read_text_file({.pth = "x"});
  return 0;
}
