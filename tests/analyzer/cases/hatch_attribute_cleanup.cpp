#include <mcpac.hpp>
void gone(int*) {}
void call() {
  [[gnu::cleanup(gone)]] int x = 0;  // expect: refuses attribute
  (void)x;
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
