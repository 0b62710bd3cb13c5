// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file, mcp::filesystem::write_file> rt) {
  auto r = rt.filesystem.read_text_file.try_call({.path = 5});  // expect: refuses compile-error // message: `path` is text (std::string), not a number // fix: ({.path = "5"})
  return 0;
}
