// expect-error: (explicit|deleted|could not convert|no match|converting to)
#include <mcpac.hpp>
using namespace mcp;
filesystem::read_text_file::Args args() { return {.path = {}}; }
