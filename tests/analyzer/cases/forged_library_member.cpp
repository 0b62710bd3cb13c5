#include <mcpac.hpp>
#include <list>
template <>
std::list<const char*>::list(std::initializer_list<const char*>) {  // expect: refuses reopened-namespace
  push_back("y");
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const std::list<const char*> names{"x"};
  for (const char* name : names)
    rt.filesystem.read_text_file({.path = name});  // use: filesystem.read_text_file {"path": "x"}
  return 0;
}
