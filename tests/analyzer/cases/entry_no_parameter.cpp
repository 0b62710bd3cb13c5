#include <mcpac.hpp>
int agent_main() {  // expect: refuses entry-form
  return 0;
}
