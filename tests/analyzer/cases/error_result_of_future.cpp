// verdict: compile_error
#include <mcpac.hpp>
#include <string>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  const auto result = rt.filesystem.read_text_file({.path = "a"});
  rt.filesystem.read_text_file.async({.path = "a"}).text();  // expect: refuses compile-error // message: returns a future, which has no `text`
  return 0;
}
