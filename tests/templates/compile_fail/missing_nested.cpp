// expect-error: (deleted|no match|no matching|could not convert|explicit)
#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<memory::create_entities> rt) {
  rt.memory.create_entities({.entities = {{.name = "x", .observations = {"a"}}}});
  return 0;
}
