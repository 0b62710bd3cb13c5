#include <mcpac.hpp>
#include <regex>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {  // declared: filesystem.read_text_file // declared: filesystem.write_file
  static const std::regex kDate(R"((\d{4})-(\d{2})-(\d{2}))", std::regex::ECMAScript | std::regex::optimize);
  const std::string text = rt.filesystem.read_text_file({.path = "log.txt"}).text();  // use: filesystem.read_text_file {"path": "log.txt"}
  int found = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), kDate), end; at != end; ++at) found += std::stoi((*at)[1]) > 2000 ? 1 : 0;
  rt.filesystem.write_file({.path = "log.txt", .content = std::regex_replace(text, kDate, "$3.$2.$1")});  // use: filesystem.write_file {"content": "?", "path": "log.txt"}
  return found;
}
