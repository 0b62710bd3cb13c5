#include <mcpac.hpp>
#include <fcntl.h>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const int fd = open("/etc/passwd", O_RDONLY);  // expect: warns os-call
  (void)fd;
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
