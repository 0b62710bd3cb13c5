#include <mcpac.hpp>
#include <functional>
using Read = mcp::filesystem::read_text_file;
int agent_main(mcpac::Requires<Read> rt) {  // declared: filesystem.read_text_file
  const auto bound = std::bind_front(rt.filesystem.read_text_file, Read::Args{.path = "b"});  // use: filesystem.read_text_file {"head": "?", "path": "?", "tail": "?"}
  return bound().text().empty() ? 1 : 0;
}
