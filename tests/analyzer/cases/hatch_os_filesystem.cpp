#include <mcpac.hpp>
#include <filesystem>
bool there() { return std::filesystem::exists("x"); }  // expect: warns os-call
std::filesystem::path kPath = "a/b";
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
