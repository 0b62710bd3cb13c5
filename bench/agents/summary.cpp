// SPDX-License-Identifier: Apache-2.0

// Writes the first line of every file of a folder into an index.
#include <map>
#include <print>

#include <mcpac.hpp>

using namespace mcp;

static std::string head_of(mcpac::Requires<filesystem::read_text_file> rt,
                           const std::string& path) {
  return rt.filesystem.read_text_file({.path = path, .head = 1}).text();
}

int agent_main(
    mcpac::Requires<filesystem::read_text_file, filesystem::list_directory, filesystem::write_file>
        rt) {
  std::map<std::string, std::size_t> sizes;
  std::string index;
  for (const auto& entry : rt.filesystem.list_directory({.path = "./data"}).lines()) {
    if (!entry.starts_with("[FILE] ")) continue;
    const std::string name = "./data/" + entry.substr(7);
    const std::string head = head_of(rt, name);
    sizes[name] = head.size();
    index += std::format("{}: {}\n", name, head);
  }
  const auto written = rt.filesystem.write_file.try_call({.path = "./index.txt", .content = index});
  if (!written) {
    std::println("cannot write: {}", written.error().what());
    return 1;
  }
  for (const auto& [name, size] : sizes) std::println("{:<30} {}", name, size);
  return 0;
}
