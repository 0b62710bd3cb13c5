#include <mcpac.hpp>
#define READS mcp::filesystem::read_text_file, mcp::filesystem::list_directory
#define CAPABILITY(...) mcpac::Requires<__VA_ARGS__>
#define ENTRY(list) int agent_main(CAPABILITY(list) rt)
ENTRY(READS) {  // declared: filesystem.list_directory // declared: filesystem.read_text_file
  rt.filesystem.list_directory({.path = "d"});  // use: filesystem.list_directory {"path": "d"}
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
