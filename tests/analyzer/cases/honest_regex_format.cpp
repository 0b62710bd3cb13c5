#include <mcpac.hpp>
#include <format>
#include <print>
#include <regex>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  const std::string text = rt.filesystem.read_text_file({.path = "a"}).text();  // use: filesystem.read_text_file {"path": "a"}
  if (std::regex_search(text, std::regex("[a-z]+"))) std::println("{}", std::format("{:>8}", text));
  return 0;
}
