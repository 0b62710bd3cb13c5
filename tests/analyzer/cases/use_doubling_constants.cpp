#include <mcpac.hpp>
const std::string a0 = "0123456789";
const std::string a1 = a0 + a0 + a0 + a0 + a0 + a0 + a0 + a0;
const std::string a2 = a1 + a1 + a1 + a1 + a1 + a1 + a1 + a1;
const std::string a3 = a2 + a2 + a2 + a2 + a2 + a2 + a2 + a2;
const std::string a4 = a3 + a3 + a3 + a3 + a3 + a3 + a3 + a3;
const std::string a5 = a4 + a4 + a4 + a4 + a4 + a4 + a4 + a4;
const std::string a6 = a5 + a5 + a5 + a5 + a5 + a5 + a5 + a5;
const std::string a7 = a6 + a6 + a6 + a6 + a6 + a6 + a6 + a6;
const std::string a8 = a7 + a7 + a7 + a7 + a7 + a7 + a7 + a7;
const std::string self = self + self + self;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = a8});  // use: filesystem.read_text_file {"path": "?"}
  rt.filesystem.read_text_file({.path = self});  // use: filesystem.read_text_file {"path": "?"}
  return 0;
}
