// SPDX-License-Identifier: Apache-2.0

// Collects the lines with TODO of a source folder and writes them to one report.
#include <print>
#include <string>

#include <mcpac.hpp>

using namespace mcp;

int agent_main(
    mcpac::Requires<filesystem::search_files, filesystem::read_text_file, filesystem::write_file>
        rt) {
  std::string report = "# Open points\n\n";
  int found = 0;
  const auto files = rt.filesystem.search_files({.path = "src", .pattern = "**/*.cpp"});
  for (const auto& file : files.lines()) {
    if (file.empty()) continue;
    int number = 0;
    for (const auto& line : rt.filesystem.read_text_file({.path = file}).lines()) {
      ++number;
      const auto at = line.find("TODO");
      if (at == std::string::npos) continue;
      report += std::format("- {}:{}: {}\n", file, number, line.substr(at));
      ++found;
    }
  }
  rt.filesystem.write_file({.path = "TODO.md", .content = report});
  std::println("{} open points", found);
  return 0;
}
