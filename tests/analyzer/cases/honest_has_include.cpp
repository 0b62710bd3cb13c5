#include <mcpac.hpp>
#if __has_include(<optional>) && defined(__cpp_lib_optional)
#include <optional>
#endif
#if __has_include("local_header.hpp")
#endif
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
