#include <mcpac.hpp>
#include <unistd.h>
auto* const kSend = &::write;  // expect: refuses raw-descriptor
auto& kTake = ::read;  // expect: refuses raw-descriptor
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
