// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::memory::create_entities> rt) {
  rt.memory.create_entities({.entities = {.name = "x", .entityType = "y", .observations = {"z"}}});  // expect: refuses compile-error // message: `entities` is a list (std::vector<Args::Entities>) // fix: ({.entities = {{.name = "x", .entityType = "y", .observations = {"z"}}}})
  return 0;
}
