// verdict: compile_error
#include <vector>

#include <mcpac.hpp>
using namespace mcp;
int agent_main(mcpac::Requires<filesystem::edit_file> rt) {
  std::vector<filesystem::edit_file::Args::Edits> edits;
  edits.push_back({.oldtext = "a", .newText = "b"});  // expect: refuses compile-error // message: `Edits` of `filesystem.edit_file` has no field `oldtext`
  edits.push_back({.oldText = "a"});  // expect: refuses compile-error // message: required field `newText`
  rt.filesystem.edit_file({.path = "a", .edits = edits});
  return 0;
}
