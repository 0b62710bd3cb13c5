#include <mcpac.hpp>
#include <array>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::vector<std::string> names{"a", "b"};
  names.push_back("/etc/passwd");
  for (const auto& name : names)
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "?"}
  static const char* table[] = {"a", "b"};
  table[0] = "/etc/passwd";
  for (auto* name : table)
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "?"}
  const std::vector<std::string> repeated(2, "x");
  for (const auto& name : repeated)
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "?"}
  const std::array<std::string, 3> partly{"a", "b"};
  for (const auto& name : partly)
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "?"}
  const std::array<float, 1> rounded{0.1F};
  for (const double number : rounded)
    rt.filesystem.read_text_file({.path = "n", .head = number});  // use: filesystem.read_text_file {"head": "?", "path": "n"}
  for (const unsigned char number : {300, 2})
    rt.filesystem.read_text_file({.path = "n", .head = number});  // use: filesystem.read_text_file {"head": "?", "path": "n"}
  for (auto& name : names)
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "?"}
  const std::vector<std::string> tricky{{"ab", "b"}};  // expect: refuses text-range
  for (const auto& name : tricky)
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "?"}
  return 0;
}
