// How many lines the files of a folder have: an ordinary program with an ordinary main. It reads
// with one server and adds with another, so that two are needed.
#include <iostream>
#include <string>

#include <mcpac.hpp>

using namespace mcp;

namespace {

using Tools =
    mcpac::Requires<filesystem::list_directory, filesystem::read_text_file, everything::get_sum>;

// A function that reads files is handed the right to read files.
int lines_of(mcpac::Requires<filesystem::read_text_file> rt, const std::string& path) {
  return static_cast<int>(rt.filesystem.read_text_file({.path = path}).lines().size());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "data";
  const auto rt = mcpac::connect<Tools>();
  int total = 0;
  for (const std::string& entry : rt.filesystem.list_directory({.path = folder}).lines()) {
    if (!entry.starts_with("[FILE] ")) continue;
    const std::string name = entry.substr(std::string("[FILE] ").size());
    const int lines = lines_of(rt, folder + "/" + name);
    std::cout << name << ": " << rt.everything.get_sum({.a = total, .b = lines}).text() << '\n';
    total += lines;
  }
  std::cout << "lines: " << total << '\n';
}
