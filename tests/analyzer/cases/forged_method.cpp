#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  mcpac::Method<mcp::filesystem::write_file> forged(nullptr);  // expect: refuses forged-type // expect: refuses forged-type // expect: refuses detail-name
  forged({.path = "a", .content = "b"});  // use: filesystem.write_file {"path": "a", "content": "b"}
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
