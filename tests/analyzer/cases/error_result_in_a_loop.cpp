// verdict: compile_error
#include <mcpac.hpp>
#include <string>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  const auto result = rt.filesystem.read_text_file({.path = "a"});
  for (const auto& line : result) (void)line;  // expect: refuses compile-error // message: the result of filesystem.read_text_file is no list
  return 0;
}
