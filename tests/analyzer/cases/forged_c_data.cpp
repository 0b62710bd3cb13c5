// A variable of the program with the name of data of the C library, or of a function of it, takes its place.
#include <mcpac.hpp>
char** environ = nullptr;  // expect: refuses replaced-function
namespace own {
extern "C" {
int getaddrinfo = 0;  // expect: refuses replaced-function
}
int stderr = 1;
static int write = 0;
int read() { return write; }
}  // namespace own
int obstack_exit_failure = 1;  // expect: refuses replaced-function
static int environment = 0;
int counted = 0;
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return environment + counted + own::read();
}
