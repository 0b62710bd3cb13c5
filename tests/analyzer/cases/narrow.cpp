#include <mcpac.hpp>
struct read_data : mcpac::Narrow<mcp::filesystem::read_text_file> {
  static constexpr char where[] = "path within " "./data";
};
int agent_main(mcpac::Requires<read_data> rt) {  // declared: filesystem.read_text_file where path within ./data
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
