#include <mcpac.hpp>
struct read_data : mcpac::Narrow<mcp::filesystem::read_text_file> {
  static const char* where;
};
int agent_main(mcpac::Requires<read_data>) {  // expect: refuses narrow-where
  return 0;
}
