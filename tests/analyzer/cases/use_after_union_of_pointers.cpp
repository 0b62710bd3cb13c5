#include <mcpac.hpp>
union Both {
  const std::string* read;
  std::string* write;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const std::vector<std::string> names{"a", "b"};
  Both both{.read = &names[0]};
  *both.write = "/etc/passwd";
  for (const auto& name : names)
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "?"}
  return 0;
}
