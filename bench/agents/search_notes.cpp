// SPDX-License-Identifier: Apache-2.0

// Looks for a topic in the knowledge graph and in the notes, and writes what is known.
#include <print>
#include <set>
#include <string>

#include <mcpac.hpp>

using namespace mcp;

int agent_main(mcpac::Requires<memory::search_nodes, memory::add_observations,
                               filesystem::search_files, filesystem::read_text_file>
                   rt) {
  std::set<std::string> known;
  const auto nodes = rt.memory.search_nodes({.query = "orbit"});
  for (const auto& entity : nodes.entities) {
    for (const auto& observation : entity.observations) known.insert(observation);
  }
  std::vector<std::string> fresh;
  for (const auto& file :
       rt.filesystem.search_files({.path = "notes", .pattern = "*.txt"}).lines()) {
    for (const auto& line : rt.filesystem.read_text_file({.path = file}).lines()) {
      if (line.contains("orbit") && known.insert(line).second) fresh.push_back(line);
    }
  }
  if (!fresh.empty() && !nodes.entities.empty()) {
    rt.memory.add_observations(
        {.observations = {{.entityName = nodes.entities.front().name, .contents = fresh}}});
  }
  std::println("{} known, {} new", known.size() - fresh.size(), fresh.size());
  return 0;
}
