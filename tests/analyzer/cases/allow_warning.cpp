#include <mcpac.hpp>
#include <cstdlib>
// mcpac-allow: os-call the test wants to see that it fails
const char* above() { return std::getenv("HOME"); }  // expect: warns os-call
const char* beside() { return std::getenv("HOME"); }  /* mcpac-allow: os-call as above */ // expect: warns os-call
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
