// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::edit_file> rt) {
  rt.filesystem.edit_file({.path = "a", .edits = {{.oldText = "a", .newText = "b"}, {.oldText = "a"}}});  // expect: refuses compile-error // message: required field `newText` (std::string) of `edits[1]` of `filesystem.edit_file` (Args::Edits) is missing // fix: {.oldText = "a", .newText = …}}})
  return 0;
}
