#include <mcpac.hpp>
#include <functional>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::invoke(rt.filesystem.read_text_file, mcp::filesystem::read_text_file::Args{.path = "i"});  // use: filesystem.read_text_file {"path": "?", "head": "?", "tail": "?"}
  return 0;
}
