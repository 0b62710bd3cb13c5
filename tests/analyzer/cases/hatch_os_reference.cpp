#include <mcpac.hpp>
#include <cstdlib>
#include <functional>
#include <signal.h>
auto& kRun = ::system;  // expect: warns os-call
std::function<int(const char*)> kLater = ::system;  // expect: warns os-call
template <auto F>
int with() {
  return 0;
}
int kWith() { return with<&::raise>(); }  // expect: warns os-call
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
