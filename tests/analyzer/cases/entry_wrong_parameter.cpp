#include <mcpac.hpp>
int agent_main(int) {  // expect: refuses entry-form
  return 0;
}
