#include <mcpac.hpp>
struct some : mcpac::Narrow<mcp::filesystem::read_text_file> {
  static constexpr const char where[] = R"(path in {"a.txt", "b \"c\".txt"}, ?head 1..10)";
};
int agent_main(mcpac::Requires<some> rt) {  // declared: filesystem.read_text_file where path in {"a.txt", "b \"c\".txt"}, ?head 1..10
  rt.filesystem.read_text_file({.path = "a.txt", .head = 3});  // use: filesystem.read_text_file {"head": 3, "path": "a.txt"}
  return 0;
}
