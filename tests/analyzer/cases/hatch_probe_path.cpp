#include <mcpac.hpp>
#if __has_include("/etc/hostname")  // expect: refuses path-probe
#endif
#if __has_include(<../../etc/hostname>)  // expect: refuses path-probe
#endif
#include <experimental/../vector>  // expect: refuses path-probe
#define HAS(x) __has_include(x)  // expect: refuses path-probe
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
