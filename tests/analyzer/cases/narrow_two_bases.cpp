#include <mcpac.hpp>
struct extra { static constexpr int other = 3; };
struct sly : mcpac::Narrow<mcp::filesystem::read_text_file>, extra {
  static constexpr char where[] = "path within ./data";
};
int agent_main(mcpac::Requires<sly> rt) {  // declared: filesystem.read_text_file where path within ./data
  (void)rt;
  return 0;
}
// unused: filesystem.read_text_file where path within ./data
