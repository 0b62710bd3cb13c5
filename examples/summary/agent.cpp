// Reads every text file of a folder and prints one line about each, and a total.
#include <algorithm>
#include <iterator>
#include <print>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <mcpac.hpp>

using namespace mcp;

namespace {

// A function asks for what it needs itself; the wider capability of agent_main narrows by itself.
std::string read(mcpac::Requires<filesystem::read_text_file> rt, const std::string& path) {
  return rt.filesystem.read_text_file({.path = path}).text();
}

std::vector<std::string> text_files(mcpac::Requires<filesystem::list_directory> rt,
                                    const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& line : rt.filesystem.list_directory({.path = folder}).lines()) {
    constexpr std::string_view kFile = "[FILE] ";
    if (line.starts_with(kFile) && line.ends_with(".txt"))
      names.push_back(line.substr(kFile.size()));
  }
  std::ranges::sort(names);
  return names;
}

std::size_t count_words(const std::string& text) {
  std::istringstream stream(text);
  return static_cast<std::size_t>(std::distance(std::istream_iterator<std::string>(stream), {}));
}

}  // namespace

int agent_main(mcpac::Requires<filesystem::list_directory, filesystem::read_text_file> rt) {
  std::size_t words = 0;
  for (const std::string& name : text_files(rt, "data")) {
    const std::string text = read(rt, "data/" + name);
    const std::size_t count = count_words(text);
    words += count;
    std::println("{}: {} ({} words)", name, text.substr(0, text.find('\n')), count);
  }
  std::println("{} words in all", words);
  return 0;
}
