#include <mcpac.hpp>
template <bool Writes, class R>
void work(const R& rt) {
  if constexpr (Writes) {
    rt.filesystem.write_file({.path = "w", .content = "x"});
  } else {
    rt.filesystem.read_text_file({.path = "r"});  // use: filesystem.read_text_file {"path": "r"}
  }
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  work<false>(rt);
  return 0;
}
