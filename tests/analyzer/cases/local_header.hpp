#pragma once
#include <mcpac.hpp>
inline void helper(mcpac::Requires<mcp::filesystem::read_text_file>) {}
