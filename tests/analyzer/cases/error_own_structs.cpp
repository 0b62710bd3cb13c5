// A struct that is not the generated one, which its members show.
// verdict: compile_error
#include <mcpac.hpp>
using namespace mcp;
struct Few {
  std::string name;
};
struct More {
  std::string name, entityType;
  std::vector<std::string> observations;
  int age;
};
struct Other {
  std::string name;
  int entityType;
  std::vector<std::string> observations;
};
int agent_main(mcpac::Requires<memory::create_entities, memory::read_graph, forms::everything> rt) {
  const std::vector<Few> few;
  const std::vector<More> more;
  const std::vector<Other> other;
  rt.memory.create_entities({.entities = few});  // expect: refuses compile-error // message: `few` is a `std::vector<Few>` // fix: fill a std::vector of memory::create_entities::Entities from each Few, {.name = …, .entityType = …, .observations = …} (`entityType` is missing, `observations` is missing)
  rt.memory.create_entities({.entities = more});  // expect: refuses compile-error // fix: `age` is none of its members
  rt.memory.create_entities({.entities = other});  // expect: refuses compile-error // fix: a member has another type
  std::vector<memory::create_entities::Args::Entities> all;
  for (const auto& one : rt.memory.read_graph().entities) {
    all.push_back(one);  // expect: refuses compile-error // message: is no `memory::create_entities::Entities` // fix: write {.name = …, .entityType = …, .observations = …}
    memory::create_entities::Args::Entities made = one;  // expect: refuses compile-error // message: is no `memory::create_entities::Entities`
  }
  return 0;
}
