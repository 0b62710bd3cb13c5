// What models write of arguments: made empty and filled, taken apart, sorted, printed.
#include <algorithm>
#include <format>
#include <map>
#include <print>
#include <set>
#include <string>
#include <vector>

#include <mcpac.hpp>
using namespace mcp;
using Entities = memory::create_entities::Args::Entities;
struct Person {
  std::string name, entityType;
  std::vector<std::string> observations;
};
int agent_main(mcpac::Requires<memory::create_entities, forms::everything, memory::read_graph> rt) {  // declared: memory.create_entities // declared: forms.every/thing // declared: memory.read_graph
  const std::vector<Person> people{{"p", "person", {"x"}}};
  rt.memory.create_entities({.entities = people});  // use: memory.create_entities {"entities": "?"}
  rt.memory.create_entities({.entities = rt.memory.read_graph().entities});  // use: memory.create_entities {"entities": "?"} // use: memory.read_graph
  std::map<std::string, std::set<std::string>> groups{{"a", {"x", "y"}}, {"b", {}}};
  memory::create_entities::Args all;
  for (const auto& [name, members] : groups) {
    Entities entity;
    entity.name = name;
    entity.entityType = "group";
    for (const auto& member : members) entity.observations.push_back(member);
    if (entity.observations.empty()) entity.observations = {};
    all.entities.push_back(entity);
    all.entities.push_back({.name = name, .entityType = "copy", .observations = {members.begin(), members.end()}});
  }
  std::ranges::sort(all.entities, {}, &Entities::name);
  for (const auto& entity : all.entities)
    std::println("{:>4} {} {} {}", entity.name, entity.name.size(), entity.observations, entity.name == "a");
  rt.memory.create_entities(all);  // use: memory.create_entities {"entities": "?"}
  const std::string pair[] = {"x", "y"};
  rt.memory.create_entities({.entities = {{.name = "n", .entityType = "t", .observations = {std::begin(pair), std::end(pair)}}}});  // use: memory.create_entities {"entities": "?"}
  forms::everything::Args args;
  args.path = "p";
  args.paths = {{"node_modules", ".git"}};
  args.paths = {};
  args.labels = {};
  args.paths = {{"node_modules", ".git"}};
  args.paths->push_back("c");
  std::ranges::copy(people.front().observations, std::back_inserter(args.paths));
  args.entities = {};
  args.address.street = "s";
  args.mode = "fast";
  *args.count = 1;
  args.count.emplace(1);
  args.count += 2;
  ++args.count;
  args.note = nullptr;
  args.modes = {"+1", forms::everything::Args::Mode::fast};
  std::println("{} {}", args.mode, args.count);
  rt.forms.everything(args);  // use: forms.every/thing {"path": "?", "paths": "?", "entities": "?", "address": "?", "mode": "?", "count": "?", "note": "?", "labels": "?", "ratio": "?", "dry": "?", "big": "?", "extra": "?", "milestone": "?", "headers": "?", "point": "?", "either": "?", "filter": "?", "modes": "?", "level": "?", "mixed": "?", "shape": "?", "tree": "?", "options": "?"}
  rt.forms.everything({.path = "p", .paths = {}, .entities = {}, .address = {.street = "s"}, .mode = "+1", .count = 1, .note = nullptr, .modes = {"fast", "-1"}, .mixed = "any"});  // use: forms.every/thing {"path": "p", "paths": [], "entities": [], "address": {"street": "s"}, "mode": "+1", "count": 1, "note": "?", "modes": ["fast", "-1"], "mixed": "any"}
  return 0;
}
