// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::forms::everything> rt) {
  rt.forms.everything({.path = "a", .paths = {"a"}, .entities = {{.street = "s"}}, .address = {.street = "s"}, .mode = mcp::forms::everything::Args::Mode::fast, .count = 1.5, .note = nullptr});  // expect: refuses compile-error // message: `count` is a whole number (std::int64_t), not 1.5
  return 0;
}
