// expect-error: (no viable conversion|no known conversion|could not convert)
#include <mcpac.hpp>
void connects(mcpac::Requires<mcpac::network> rt);
int agent_main(mcpac::Requires<mcpac::files> rt) {
  connects(rt);
  return 0;
}
