// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::edit_file> rt) {
  rt.filesystem.edit_file({.path = "a", .edits = {{.oldTxt = "a", .newText = "b"}}});  // expect: refuses compile-error // message: `edits[0]` of `filesystem.edit_file` has no field `oldTxt` (Args::Edits); did you mean `oldText`? // fix: ({.path = "a", .edits = {{.oldText = "a", .newText = "b"}}})
  return 0;
}
