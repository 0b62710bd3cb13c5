// Neither the word template nor the parameter's auto stands where it is used.
#include <mcpac.hpp>
#define ANY auto
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const auto read = [&rt](ANY path) {
    return rt.filesystem.read_text_file({.path = path}).text();  // use: filesystem.read_text_file {"path": "?"}
  };
  return read(std::string("a")).empty();
}
