#include <mcpac.hpp>
#include <fstream>
void call() {
  std::filebuf file;  // expect: warns os-call
  file.__open(3, std::ios::out);  // expect: refuses library-internals
}
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
