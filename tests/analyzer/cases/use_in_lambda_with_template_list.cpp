// A template list behind the brackets, whose closing one is written as a digraph.
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const auto read = [&rt:><class T>(T path) {
    return rt.filesystem.read_text_file({.path = path}).text();  // use: filesystem.read_text_file {"path": "?"}
  };
  return read(std::string("a")).empty();
}
