#include <mcpac.hpp>
#include <sys/syscall.h>
#include <unistd.h>
long call() { return ::syscall(SYS_write, 3, "{}", 2); }  // expect: refuses raw-descriptor
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
