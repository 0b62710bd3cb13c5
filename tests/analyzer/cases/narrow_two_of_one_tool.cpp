#include <mcpac.hpp>
struct in_a : mcpac::Narrow<mcp::filesystem::read_text_file> { static constexpr char where[] = "path within ./a"; };
struct in_b : mcpac::Narrow<mcp::filesystem::read_text_file> { static constexpr char where[] = "path within ./b"; };
int agent_main(mcpac::Requires<in_a, in_b> rt) {  // declared: filesystem.read_text_file where path within ./a // declared: filesystem.read_text_file where path within ./b
  rt.filesystem.read_text_file({.path = "./a/x"});  // use: filesystem.read_text_file {"path": "./a/x"}
  return 0;
}
