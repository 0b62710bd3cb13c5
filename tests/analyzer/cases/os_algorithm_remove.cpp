#include <mcpac.hpp>
#include <algorithm>
#include <vector>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::vector<int> v{1, 2};
  v.erase(std::remove(v.begin(), v.end(), 1), v.end());
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
