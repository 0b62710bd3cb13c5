#include <mcpac.hpp>
template <class Tool>
struct below : mcpac::Narrow<Tool> { static constexpr char where[] = "path within ./data"; };
template <>
struct below<mcp::filesystem::read_text_file> : mcpac::Narrow<mcp::filesystem::write_file> { static constexpr char where[] = "path within ./out"; };
int agent_main(mcpac::Requires<below<mcp::filesystem::read_text_file>> rt) {  // declared: filesystem.write_file where path within ./out
  (void)rt;
  return 0;
}
// unused: filesystem.write_file where path within ./out
