// expect-error: (deleted|no match|no matching|could not convert|explicit)
#include <mcpac.hpp>
using namespace mcp;
forms::everything::Args::Options options() { return {.limit = 3}; }
