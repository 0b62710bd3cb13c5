// expect-error: no member named
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  return rt.network.connect("a.example", 443).is_open();
}
