// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::forms::everything> rt) {
  rt.forms.everything({.path = "a", .paths = {"a"}, .entities = {{.street = "s"}}, .mode = mcp::forms::everything::Args::Mode::fast, .count = 1, .note = nullptr});  // expect: refuses compile-error // message: required argument `address` (Args::Address) of `forms.every/thing` is missing
  return 0;
}
