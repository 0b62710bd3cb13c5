// A function with an auto parameter is a template without the word.
#include <mcpac.hpp>
using Rt = mcpac::Requires<mcp::filesystem::read_text_file>;
std::string read(/* any */ auto const& path, Rt rt) {
  return rt.filesystem.read_text_file({.path = path}).text();  // use: filesystem.read_text_file {"path": "?"}
}
int agent_main(Rt rt) {  // declared: filesystem.read_text_file
  return read(std::string("a"), rt).empty();
}
