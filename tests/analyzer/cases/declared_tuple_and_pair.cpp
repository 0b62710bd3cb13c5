#include <mcpac.hpp>
#include <tuple>
using Reader = mcpac::Requires<mcp::filesystem::read_text_file>;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {  // declared: filesystem.read_text_file // declared: filesystem.write_file
  const std::tuple<Reader, int> both{rt, 3};
  auto [reader, lines] = both;
  const std::pair<mcpac::Requires<mcp::filesystem::write_file>, std::string> target{rt, "out"};
  target.first.filesystem.write_file({.path = target.second, .content = reader.filesystem.read_text_file({.path = "in", .head = lines}).text()});  // use: filesystem.write_file {"content": "?", "path": "?"} // use: filesystem.read_text_file {"head": "?", "path": "in"}
  return 0;
}
