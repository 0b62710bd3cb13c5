// SPDX-License-Identifier: Apache-2.0

// Finds files of equal content in a folder.
#include <print>
#include <string>
#include <unordered_map>
#include <vector>

#include <mcpac.hpp>

using namespace mcp;

int agent_main(mcpac::Requires<filesystem::list_directory_with_sizes, filesystem::list_directory,
                               filesystem::read_text_file>
                   rt) {
  std::unordered_map<std::string, std::vector<std::string>> by_content;
  for (const auto& line : rt.filesystem.list_directory({.path = "inbox"}).lines()) {
    if (!line.starts_with("[FILE] ")) continue;
    const std::string path = "inbox/" + line.substr(7);
    const auto text = rt.filesystem.read_text_file.try_call({.path = path});
    if (!text) {
      mcpac::log(mcpac::LogLevel::warning, std::format("{}: {}", path, text.error().what()));
      continue;
    }
    by_content[text->text()].push_back(path);
  }
  std::size_t groups = 0;
  for (const auto& [content, paths] : by_content) {
    if (paths.size() < 2) continue;
    ++groups;
    std::println("{} bytes:", content.size());
    for (const auto& path : paths) std::println("  {}", path);
  }
  std::println("{} groups of equal files", groups);
  return groups == 0 ? 0 : 2;
}
