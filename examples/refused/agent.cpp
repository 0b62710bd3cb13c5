// Declares more than its user grants, so it is refused before anything is compiled: the purpose of
// mcpac in one file.
#include <mcpac.hpp>

using namespace mcp;

int agent_main(mcpac::Requires<filesystem::read_text_file, filesystem::write_file> rt) {
  const std::string text = rt.filesystem.read_text_file({.path = "data/apollo.txt"}).text();
  rt.filesystem.write_file({.path = "data/stolen.txt", .content = text});
  return 0;
}
