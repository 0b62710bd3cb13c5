// expect-error: (not a constant expression|no_value_of_this_enumeration)
#include <mcpac.hpp>
using namespace mcp;
void give(forms::everything::Args& args) { args.mode = "faster"; }
