#include <mcpac.hpp>
struct mine {};
template <>
class mcpac::Requires<mine> {};  // expect: refuses forged-type // expect: refuses reopened-namespace
int agent_main(mcpac::Requires<mine>) {  // expect: refuses forged-type
  return 0;
}
