// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::forms::everything> rt) {
  rt.forms.everything({.path = "a", .paths = {"a"}, .entities = {{.street = "s"}}, .address = {.street = "s"}, .mode = "+2", .count = 1, .note = nullptr});  // expect: refuses compile-error // message: `mode` is one of "fast", "+1", "-1", not "+2" // fix: .mode = "+1",
  return 0;
}
