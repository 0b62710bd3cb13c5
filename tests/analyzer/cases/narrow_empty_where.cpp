#include <mcpac.hpp>
struct sly : mcpac::Narrow<mcp::filesystem::read_text_file> {
  static constexpr char where[] = "";
};
int agent_main(mcpac::Requires<sly> rt) {  // expect: refuses narrow-where
  (void)rt;
  return 0;
}
