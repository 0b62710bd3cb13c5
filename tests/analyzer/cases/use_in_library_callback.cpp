#include <mcpac.hpp>
#include <algorithm>
#include <vector>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const std::vector<std::string> names{"a", "b"};
  std::ranges::for_each(names, [&](const auto& name) {
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "?"}
  });
  return 0;
}
