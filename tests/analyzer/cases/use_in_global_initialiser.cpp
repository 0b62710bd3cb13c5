#include <mcpac.hpp>
extern mcpac::Requires<mcp::filesystem::read_text_file> runtime;  // declared: filesystem.read_text_file
const std::string kText = runtime.filesystem.read_text_file({.path = "g"}).text();  // use: filesystem.read_text_file {"path": "g"} // expect: warns early-call
int main() { return 0; }
