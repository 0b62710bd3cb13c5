#include <mcpac.hpp>
template <class Tool>
struct below_data : mcpac::Narrow<Tool> {
  static constexpr char where[] = "path within ./data";
};
int agent_main(mcpac::Requires<below_data<mcp::filesystem::read_text_file>, below_data<mcp::filesystem::list_directory>> rt) {  // declared: filesystem.list_directory where path within ./data // declared: filesystem.read_text_file where path within ./data
  rt.filesystem.read_text_file({.path = "./data/a"});  // use: filesystem.read_text_file {"path": "./data/a"}
  rt.filesystem.list_directory({.path = "./data"});  // use: filesystem.list_directory {"path": "./data"}
  return 0;
}
