#include <mcpac.hpp>
extern mcpac::Requires<mcp::filesystem::read_text_file> runtime;  // declared: filesystem.read_text_file
template <int N>
const std::string kText = runtime.filesystem.read_text_file({.path = "v", .head = N}).text();  // use: filesystem.read_text_file {"head": 2, "path": "v"} // expect: refuses hidden-body
int main() { return kText<2>.empty() ? 1 : 0; }
