// expect-error: (no viable conversion|no known conversion|could not convert)
#include <mcpac.hpp>
using namespace mcp;
void writes(mcpac::Requires<filesystem::write_file, filesystem::read_text_file> rt);
int agent_main(mcpac::Requires<filesystem::read_text_file> rt) {
  writes(rt);
  return 0;
}
