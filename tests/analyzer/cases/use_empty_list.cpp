// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::edit_file> rt) {
  rt.filesystem.edit_file({.path = "a", .edits = {}});  // expect: refuses compile-error // message: `edits` is required; a list that is meant to be empty is `mcpac::empty` // fix: .edits = mcpac::empty})
  return 0;
}
