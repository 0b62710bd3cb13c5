#include <mcpac.hpp>
template <class R>
int agent_main(R) {  // expect: refuses entry-form
  return 0;
}
