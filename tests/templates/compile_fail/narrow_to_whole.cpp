// expect-error: (no viable conversion|no known conversion|could not convert)
#include <mcpac.hpp>
using namespace mcp;
struct only_data : mcpac::Narrow<filesystem::read_text_file> {
  static constexpr char where[] = "path within ./data";
};
void whole(mcpac::Requires<filesystem::read_text_file> rt);
int agent_main(mcpac::Requires<only_data> rt) {
  whole(rt);
  return 0;
}
