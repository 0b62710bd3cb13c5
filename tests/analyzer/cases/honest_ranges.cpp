#include <mcpac.hpp>
#include <map>
#include <ranges>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::map<std::string, int> counts;
  for (auto word : std::views::split(std::string_view("a b a"), ' ')) ++counts[std::string(word.begin(), word.end())];
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return counts["a"] == 2 ? 0 : 1;
}
