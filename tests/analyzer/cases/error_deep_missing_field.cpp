// verdict: compile_error
#include <mcpac.hpp>
int agent_main(mcpac::Requires<mcp::forms::everything> rt) {
  rt.forms.everything({.path = "a", .paths = {"a"}, .entities = {{.street = "s"}}, .address = {.street = "s"}, .mode = mcp::forms::everything::Args::Mode::fast, .count = 1, .note = nullptr, .tree = {.label = "a", .children = {{.label = "b", .children = {{.lable = "c"}}}}}});  // expect: refuses compile-error // message: `tree.children[0].children[0]` of `forms.every/thing` has no field `lable` (Args::Node); did you mean `label`?
  return 0;
}
