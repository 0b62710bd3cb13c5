// Fills the knowledge graph of server-memory from text files: an entity a mission, one a person,
// and the relations between them. Returns what it stored as JSON, which mcpac prints.
#include <string>
#include <vector>

#include <mcpac.hpp>

using namespace mcp;

namespace {

struct Mission {
  std::string name;
  std::vector<std::string> crew;
  std::string fact;
};

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (auto at = text.find(by); at != std::string::npos; at = text.find(by, from)) {
    parts.push_back(text.substr(from, at - from));
    from = at + by.size();
  }
  parts.push_back(text.substr(from));
  return parts;
}

Mission parse(const std::string& text) {
  const auto lines = split(text, "\n");
  Mission mission{.name = lines.at(0), .crew = {}, .fact = lines.at(2)};
  const std::string crew = lines.at(1).substr(std::string("Crew: ").size());
  if (crew != "none") mission.crew = split(crew, ", ");
  return mission;
}

}  // namespace

mcpac::Json agent_main(mcpac::Requires<filesystem::read_text_file, memory::create_entities,
                                       memory::create_relations, memory::read_graph>
                           rt) {
  for (const char* file : {"data/apollo.txt", "data/luna.txt", "data/mariner.txt"}) {
    const Mission mission = parse(rt.filesystem.read_text_file({.path = file}).text());
    rt.memory.create_entities(
        {.entities = {
             {.name = mission.name, .entityType = "mission", .observations = {mission.fact}}}});
    for (const std::string& person : mission.crew) {
      rt.memory.create_entities(
          {.entities = {{.name = person, .entityType = "person", .observations = mcpac::empty}}});
      rt.memory.create_relations(
          {.relations = {{.from = person, .to = mission.name, .relationType = "flew on"}}});
    }
  }
  const mcpac::Json graph = rt.memory.read_graph().structured();
  return {{"entities", graph.at("entities").size()}, {"relations", graph.at("relations").size()}};
}
