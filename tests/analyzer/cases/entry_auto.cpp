#include <mcpac.hpp>
int agent_main(auto) {  // expect: refuses entry-form
  return 0;
}
