// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {
  rt.filesystem.write_file({.path = "a"});  // expect: refuses compile-error // message: required argument `content` (std::string) of `filesystem.write_file` is missing
  return 0;
}
