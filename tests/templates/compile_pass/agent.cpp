// A program that uses most of what the API has.
#include <mcpac.hpp>
using namespace mcp;
std::string head_of(mcpac::Requires<filesystem::read_text_file> rt, const std::string& path) {
  return rt.filesystem.read_text_file({.path = path, .head = 5}).text();
}
int agent_main(mcpac::Requires<filesystem::read_text_file, filesystem::list_directory> rt) {
  for (const auto& entry : rt.filesystem.list_directory({.path = "./data"}).lines())
    std::puts(head_of(rt, entry).c_str());
  return 0;
}
int main() {
  return ::mcpac::detail::run_agent_main(&::agent_main);
}
