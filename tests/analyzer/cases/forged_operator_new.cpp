#include <mcpac.hpp>
#include <cstdlib>
void* operator new(std::size_t size) { return std::malloc(size); }  // expect: refuses replaced-function
void operator delete(void* memory) noexcept { std::free(memory); }  // expect: refuses replaced-function
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
