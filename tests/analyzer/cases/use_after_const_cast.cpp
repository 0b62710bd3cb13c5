#include <mcpac.hpp>
const std::vector<std::string> kNames{"a", "b"};
const std::string kName = "a";
constexpr int kLines = 3;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const_cast<std::string&>(kNames[0]) = "/etc/passwd";
  for (const auto& name : kNames)
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = kName});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = "literal", .head = kLines});  // use: filesystem.read_text_file {"head": 3, "path": "literal"}
  return 0;
}
