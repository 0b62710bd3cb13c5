// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::memory::create_entities> rt) {
  rt.memory.create_entities({.entities = {{.name = "x", .entityType = "y", .observations = "z"}}});  // expect: refuses compile-error // message: `entities[0].observations` is a list (std::vector<std::string>) // fix: .observations = {"z"}}}})
  return 0;
}
