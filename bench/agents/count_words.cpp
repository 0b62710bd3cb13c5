// SPDX-License-Identifier: Apache-2.0

// Counts the words of the text files in a folder and prints the ten most frequent.
#include <algorithm>
#include <map>
#include <print>
#include <sstream>
#include <vector>

#include <mcpac.hpp>

using namespace mcp;

int agent_main(mcpac::Requires<filesystem::list_directory, filesystem::read_text_file> rt) {
  std::map<std::string, int> counts;
  for (const auto& line : rt.filesystem.list_directory({.path = "data"}).lines()) {
    if (!line.starts_with("[FILE] ") || !line.ends_with(".txt")) continue;
    std::istringstream text(
        rt.filesystem.read_text_file({.path = "data/" + line.substr(7)}).text());
    std::string word;
    while (text >> word) ++counts[word];
  }
  std::vector<std::pair<std::string, int>> ranked(counts.begin(), counts.end());
  std::ranges::sort(ranked, [](const auto& a, const auto& b) { return a.second > b.second; });
  if (ranked.size() > 10) ranked.resize(10);
  for (const auto& [word, count] : ranked) std::println("{:>6} {}", count, word);
  return 0;
}
