#include <mcpac.hpp>
[[gnu::used]] static int kept = 0;
[[gnu::target("avx2")]] void fast() {}
[[gnu::no_sanitize("all")]] void plain() {}
[[deprecated("use fast")]] void old();
struct [[nodiscard]] Sum {
  [[no_unique_address]] int value = kept;
};
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
