#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::memory::create_entities> rt) {  // declared: memory.create_entities
  rt.memory.create_entities({.entities = {{.name = "n", .entityType = "t", .observations = {"a", "b"}}, {.name = "m", .entityType = "t", .observations = {"c"}}}});  // use: memory.create_entities {"entities": [{"name": "n", "entityType": "t", "observations": ["a", "b"]}, {"name": "m", "entityType": "t", "observations": ["c"]}]}
  return 0;
}
