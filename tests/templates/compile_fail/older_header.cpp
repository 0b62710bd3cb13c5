// expect-error: generated for another mcpac runtime
#include "mcpac/runtime.hpp"
#undef MCPAC_ABI
#define MCPAC_ABI 2
#include "filesystem.hpp"
