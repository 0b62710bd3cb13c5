// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::edit_file> rt) {
  auto& edit = rt.filesystem.edit_file;
  edit({.path = "a", .edits = {{.oldTxt = "a", .newText = "b"}}});  // expect: refuses compile-error // message: did you mean `oldText`?
  return 0;
}
