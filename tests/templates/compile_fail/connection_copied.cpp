// expect-error: (deleted|no matching constructor)
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcpac::network> rt) {
  mcpac::Connection one = rt.network.connect("a.example", 443);
  mcpac::Connection two = one;
  return two.is_open();
}
