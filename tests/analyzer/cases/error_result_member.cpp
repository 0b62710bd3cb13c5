// verdict: compile_error
#include <mcpac.hpp>
#include <string>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  const auto result = rt.filesystem.read_text_file({.path = "a"});
  result.output();  // expect: refuses compile-error // message: the result of filesystem.read_text_file has no `output`
  return 0;
}
