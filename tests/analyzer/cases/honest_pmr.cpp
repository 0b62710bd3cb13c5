#include <mcpac.hpp>
#include <array>
#include <memory_resource>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  std::array<std::byte, 4096> buffer{};
  std::pmr::monotonic_buffer_resource arena(buffer.data(), buffer.size());
  std::pmr::vector<std::pmr::string> words(&arena);
  std::pmr::unordered_map<std::pmr::string, int> counts(&arena);
  for (const auto& line : rt.filesystem.read_text_file({.path = "words.txt"}).lines()) {  // use: filesystem.read_text_file {"path": "words.txt"}
    words.emplace_back(line);
    ++counts[words.back()];
  }
  return static_cast<int>(counts.size());
}
