#include <mcpac.hpp>
int agent_main(mcpac::Requires<> = *static_cast<mcpac::Requires<>*>(nullptr)) {  // expect: refuses capability-cast
  return 0;
}
