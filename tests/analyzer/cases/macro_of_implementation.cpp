#include <mcpac.hpp>
#define _GNU_SOURCE 1
#define __STDC_FORMAT_MACROS
#undef _ASSERT_H_DECLS
#define __assertion int i)  // expect: refuses macro-redefinition
#undef __assertion
#include <assert.h>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {  // declared: filesystem.read_text_file
  rt.filesystem.read_text_file({.path = "a"});  // use: filesystem.read_text_file {"path": "a"}
  return 0;
}
