#include <mcpac.hpp>
namespace {
constexpr char kWhere[] = "path within ./data";
struct below_data : mcpac::Narrow<mcp::filesystem::read_text_file> {
  static constexpr const char* where = kWhere;
};
}
int agent_main(mcpac::Requires<below_data> rt) {  // declared: filesystem.read_text_file where path within ./data
  rt.filesystem.read_text_file({.path = "./data/a"});  // use: filesystem.read_text_file {"path": "./data/a"}
  return 0;
}
