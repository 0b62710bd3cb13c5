// expect-error: (no viable conversion|no known conversion|could not convert)
#include <mcpac.hpp>
using namespace mcp;
struct only_data : mcpac::Narrow<filesystem::read_text_file> {
  static constexpr char where[] = "path within ./data";
};
struct only_logs : mcpac::Narrow<filesystem::read_text_file> {
  static constexpr char where[] = "path within ./logs";
};
void logs(mcpac::Requires<only_logs> rt);
int agent_main(mcpac::Requires<only_data> rt) {
  logs(rt);
  return 0;
}
