#include <mcpac.hpp>
#include <array>
#include <vector>
using Reader = mcpac::Requires<mcp::filesystem::read_text_file>;
std::size_t count(const Reader& rt) {
  const Reader two[] = {rt, rt};
  std::vector<Reader> many{two[0], two[1]};
  std::array<Reader, 1> one{rt};
  std::size_t all = 0;
  for (const Reader& each : many) all += each.permissions().size();
  return all + one[0].permissions().size();
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
