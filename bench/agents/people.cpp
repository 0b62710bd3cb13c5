// SPDX-License-Identifier: Apache-2.0

// Fills a knowledge graph from a table of people and returns what it holds.
#include <string>
#include <vector>

#include <mcpac.hpp>

using namespace mcp;

struct Person {
  std::string name;
  std::string team;
  std::string role;
};

static std::vector<Person> parse(const std::string& table) {
  std::vector<Person> people;
  std::size_t from = 0;
  while (from < table.size()) {
    const auto end = std::min(table.find('\n', from), table.size());
    const std::string line = table.substr(from, end - from);
    const auto first = line.find(',');
    const auto second = line.find(',', first + 1);
    if (second != std::string::npos) {
      people.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1),
                        line.substr(second + 1)});
    }
    from = end + 1;
  }
  return people;
}

mcpac::Json agent_main(mcpac::Requires<filesystem::read_text_file, memory::create_entities,
                                       memory::create_relations, memory::read_graph>
                           rt) {
  for (const Person& person : parse(rt.filesystem.read_text_file({.path = "people.csv"}).text())) {
    rt.memory.create_entities(
        {.entities = {
             {.name = person.name, .entityType = "person", .observations = {person.role}}}});
    rt.memory.create_relations(
        {.relations = {{.from = person.name, .to = person.team, .relationType = "works in"}}});
  }
  const auto graph = rt.memory.read_graph();
  return {{"entities", graph.entities.size()}, {"relations", graph.relations.size()}};
}
