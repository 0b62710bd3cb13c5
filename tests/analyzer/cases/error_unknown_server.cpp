// verdict: compile_error
#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<calendar::today> rt) {  // expect: refuses compile-error // message: `calendar` is no server of this project; there are filesystem, forms, memory
  return 0;
}
