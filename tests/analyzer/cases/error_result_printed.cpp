// The library says it four times more, about its own templates.
// verdict: compile_error
#include <mcpac.hpp>
#include <print>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  const auto result = rt.filesystem.read_text_file({.path = "a"});
  std::println("{}", result);  // expect: refuses compile-error // message: is no text
  return 0;
}
