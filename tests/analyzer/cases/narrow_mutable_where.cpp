#include <mcpac.hpp>
struct sly : mcpac::Narrow<mcp::filesystem::read_text_file> {
  static inline const char* where = "path within ./data";
};
int agent_main(mcpac::Requires<sly> rt) {  // expect: refuses narrow-where
  (void)rt;
  return 0;
}
