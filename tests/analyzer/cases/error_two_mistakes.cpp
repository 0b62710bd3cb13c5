// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {
  rt.filesystem.write_file({.pth = "a", .contents = "b"});  // expect: refuses compile-error // expect: refuses compile-error // message: did you mean `path`? // message: did you mean `content`?
  return 0;
}
