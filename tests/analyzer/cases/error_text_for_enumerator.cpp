// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::forms::everything> rt) {
  rt.forms.everything({.path = "a", .paths = {"a"}, .entities = {{.street = "s"}}, .address = {.street = "s"}, .mode = "+1", .count = 1, .note = nullptr});  // expect: refuses compile-error // message: `mode` is one of Mode::fast, Mode::plus_1, Mode::minus_1, not text // fix: .mode = mcp::forms::everything::Args::Mode::plus_1,
  return 0;
}
