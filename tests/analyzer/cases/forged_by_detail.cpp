#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  auto more = mcpac::detail::Mint::make<mcpac::Requires<mcp::filesystem::write_file>>(nullptr);  // expect: refuses detail-name // expect: refuses detail-name // expect: refuses detail-name
  more.filesystem.write_file({.path = "a", .content = "b"});  // use: filesystem.write_file {"path": "a", "content": "b"}
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
