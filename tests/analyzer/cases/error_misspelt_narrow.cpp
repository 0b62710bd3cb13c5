#include <mcpac.hpp>
struct some : mcpac::Narrow<mcp::filesystem::read_textfile> {  // expect: refuses compile-error // message: did you mean `mcp::filesystem::read_text_file`?
  static constexpr char where[] = "path within ./data";
};
int agent_main(mcpac::Requires<some> rt) {
  rt.filesystem.read_text_file({.path = "a"});
  return 0;
}
// verdict: compile_error
