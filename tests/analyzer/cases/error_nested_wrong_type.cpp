// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::edit_file> rt) {
  rt.filesystem.edit_file.async({.path = "a", .edits = {{.oldText = 5, .newText = "b"}}});  // expect: refuses compile-error // message: `edits[0].oldText` is text (std::string), not a number
  return 0;
}
