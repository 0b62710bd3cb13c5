#include <mcpac.hpp>
template <class R>
concept CanRead = requires(R rt) { rt.filesystem.read_text_file({.path = "x"}); };
template <CanRead R>
std::string head(R rt) {
  return rt.filesystem.read_text_file({.path = "c", .head = 1}).text();  // use: filesystem.read_text_file {"head": 1, "path": "c"}
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  return head(rt).empty() ? 1 : 0;
}
