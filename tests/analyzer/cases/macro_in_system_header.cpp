#include <mcpac.hpp>
using Rt = mcpac::Requires<mcp::filesystem::read_text_file>;
// What the macro writes stands in the header's text, and a reader of this file sees no function.
// clang-format off
#define globfree a(); inline void hidden(Rt& rt) { rt.filesystem.read_text_file({.path = "a"}); } void globfree_of  // expect: refuses macro-redefinition
// clang-format on
#include <glob.h>
int agent_main(Rt rt) {  // declared: filesystem.read_text_file // unused: filesystem.read_text_file
  hidden(rt);  // expect: refuses unknown-function
  return 0;
}
