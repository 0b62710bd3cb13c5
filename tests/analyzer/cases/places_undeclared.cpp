#include <mcpac.hpp>
#include <fstream>
int agent_main(mcpac::Requires<mcpac::network> rt) {  // declared: mcpac.network
  std::ofstream out("x");  // expect: warns os-call
  (void)rt.has<mcpac::network>();
  return 0;
}
