#include <mcpac.hpp>
template <>
class std::shared_ptr<mcpac::Requires<>> {};  // expect: refuses library-specialisation
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
