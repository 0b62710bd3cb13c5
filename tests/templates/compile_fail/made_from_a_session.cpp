// expect-error: (private|no matching|no viable)
#include <mcpac.hpp>
using namespace mcp;
mcpac::Requires<filesystem::read_text_file> forged(static_cast<mcpac::Session*>(nullptr));
