#include <mcpac.hpp>
namespace mine { struct files : mcpac::files {}; }
int agent_main(mcpac::Requires<mine::files>) {  // expect: refuses unknown-permission
  return 0;
}
