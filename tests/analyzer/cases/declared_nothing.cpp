#include <mcpac.hpp>
int agent_main(mcpac::Requires<>) { return 0; }
