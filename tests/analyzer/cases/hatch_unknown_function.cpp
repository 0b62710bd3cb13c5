// Functions and data of C that stand on no list: the object file would be refused for them.
#include <mcpac.hpp>
#include <search.h>
#include <unistd.h>
long asked() { return ::gethostid(); }  // expect: refuses unknown-function
int swapped(const char* a, char* b) { ::swab(a, b, 2); return opterr; }  // expect: refuses unknown-function // expect: refuses unknown-function
int (*kept)() = ::getpagesize;  // expect: refuses unknown-function
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
