#include <mcpac.hpp>
double agent_main(mcpac::Requires<>) {  // expect: refuses entry-form
  return 0;
}
