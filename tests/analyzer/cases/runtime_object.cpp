#include <mcpac.hpp>
extern mcpac::Requires<mcp::filesystem::read_text_file> runtime;  // declared: filesystem.read_text_file
int main() {
  runtime.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
