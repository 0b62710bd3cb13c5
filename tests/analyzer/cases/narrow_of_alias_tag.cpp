#include <mcpac.hpp>
namespace fs = mcp::filesystem;
using reading = fs::read_text_file;
struct data_only : mcpac::Narrow<reading> {
  static constexpr char where[] = "path within ./data, ..";
};
int agent_main(mcpac::Requires<data_only, fs::list_directory> rt) {  // declared: filesystem.list_directory // declared: filesystem.read_text_file where path within ./data, ..
  rt.filesystem.read_text_file({.path = "./data/a.txt"});  // use: filesystem.read_text_file {"path": "./data/a.txt"}
  rt.filesystem.list_directory({.path = "."});  // use: filesystem.list_directory {"path": "."}
  return 0;
}
