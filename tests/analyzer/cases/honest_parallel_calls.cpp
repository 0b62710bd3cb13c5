#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<mcp::filesystem::list_directory, mcp::filesystem::read_text_file> rt) {  // declared: filesystem.list_directory // declared: filesystem.read_text_file
  std::vector<std::pair<std::string, mcpac::Future<mcp::filesystem::read_text_file::Result>>> reads;
  for (const auto& line : rt.filesystem.list_directory({.path = "data"}).lines()) {  // use: filesystem.list_directory {"path": "data"}
    if (!line.starts_with("[FILE] ")) continue;
    const std::string path = "data/" + line.substr(7);
    reads.emplace_back(path, rt.filesystem.read_text_file.async({.path = path}));  // use: filesystem.read_text_file {"path": "?"}
  }
  std::size_t total = 0;
  for (auto& [path, result] : reads) {
    const auto text = result.get().text();
    total += text.size();
    std::println("{}: {}", path, text.size());
  }
  return total > 0 ? 0 : 1;
}
