// verdict: compile_error
#include <mcpac.hpp>
#include <string>
int agent_main(mcpac::Requires<mcp::filesystem::read_text_file> rt) {
  const auto result = rt.filesystem.read_text_file({.path = "a"});
  rt.filesystem.read_text_file.try_call({.path = "a"}).text();  // expect: refuses compile-error // message: returns a result or an error, not `text`
  rt.filesystem.read_text_file.try_call({.path = "a"}).no_such([] {});  // expect: refuses compile-error // fix: if (r) r->text(); else
  return 0;
}
